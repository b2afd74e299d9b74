/**
 * The hosts that a credential may be sent to. Each entry is a name (`api.example.com`), or `*.example.com` for any name
 * below it, at any depth but not the name itself; with `:port` if the port is not the scheme's default. A credential
 * goes over https only, except to hosts on this machine or in a private network, and where the entry says `http://`.
 */

/** Explains what is wrong with an entry; undefined when it is valid. */
export function hostProblem(entry: string): string | undefined {
  return parseHost(entry) === undefined
    ? `"${entry.slice(0, 200)}" is not a valid host. Write a name such as api.example.com or *.example.com, with :port ` +
        'if it is not the default, and with http:// in front if it has no https.'
    : undefined
}

/** Whether a credential for these hosts may be sent to a URL. */
export function hostsCover(hosts: readonly string[], url: URL): boolean {
  const host = url.hostname.toLowerCase().replace(/\.$/, '')
  return hosts.some((entry) => {
    const parsed = parseHost(entry)
    return parsed !== undefined && coversScheme(parsed, url) && coversName(parsed, host)
  })
}

type Host = { isInsecure: boolean; isWildcard: boolean; name: string; port: string }

function parseHost(entry: string): Host | undefined {
  const match = /^(?:(https?):\/\/)?(\*\.)?(\[[0-9a-f:.]+\]|[^\s/:?#@[\]*\\%]+)(?::(\d{1,5}))?$/i.exec(entry)
  if (!match) return undefined
  const [, scheme = '', wildcard, name = '', port = ''] = match
  const url = URL.parse(`https://${name}`)
  if (url?.pathname !== '/' || Number(port) > 65_535) return undefined
  const canonical = url.hostname.toLowerCase().replace(/\.$/, '')
  if (canonical === '' || (wildcard && (isAddress(canonical) || !canonical.includes('.')))) return undefined
  return { isInsecure: scheme.toLowerCase() === 'http', isWildcard: wildcard !== undefined, name: canonical, port }
}

/** `port` is empty for the default of the URL's scheme. */
function coversScheme({ isInsecure, name, port }: Host, url: URL): boolean {
  const isSecure = url.protocol === 'https:'
  if (!isSecure && url.protocol !== 'http:') return false
  const usual = isSecure ? '443' : '80'
  if ((port === '' ? usual : String(Number(port))) !== (url.port === '' ? usual : url.port)) return false
  return isSecure || isInsecure || isLocal(name)
}

function coversName({ isWildcard, name }: Host, host: string): boolean {
  return isWildcard ? host.endsWith(`.${name}`) && host.length > name.length + 1 : host === name
}

const isAddress = (host: string) => host.startsWith('[') || /^\d+(\.\d+){3}$/.test(host)

/** Whether requests to a host surely stay on this machine or in a private network. */
function isLocal(host: string): boolean {
  if (host === 'localhost' || host.endsWith('.localhost') || host === '[::1]') return true
  if (/^\[f[cd][0-9a-f]{2}:/.test(host)) return true
  const [first = 0, second = 0] = /^\d+(\.\d+){3}$/.test(host) ? host.split('.').map(Number) : []
  return (
    first === 127 ||
    first === 10 ||
    (first === 192 && second === 168) ||
    (first === 172 && second >= 16 && second <= 31)
  )
}
