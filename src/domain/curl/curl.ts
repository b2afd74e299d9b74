import { shellWords } from './shell-words.ts'

/** A request that was written in another form, such as a cURL command. */
export type ForeignRequest = {
  method: string
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body?: string
  /** The fields of a form with files. `isFile`: the value is the path of a file. */
  form?: readonly { name: string; value: string; isFile: boolean }[]
}

export type ReadRequest = { request: ForeignRequest; notTaken: { path: string; reason: string }[] }

/** Whether a text begins like a cURL command. */
export function isCurl(text: string): boolean {
  return /^\s*(?:\$\s+)?curl(?:\.exe)?\s/.test(text) && text.length <= 200_000
}

/** The request of a cURL command; undefined when it has no URL. Secrets on the command line are not taken. */
export function readCurl(command: string): ReadRequest | undefined {
  const [, ...words] = shellWords(command.replace(/^\s*\$\s+/, ''))
  const read = new CurlReader()
  for (let at = 0; at < words.length; at += 1) at += read.take(words[at]!, words[at + 1])
  return read.end()
}

/** Options with a value that change nothing in the request. */
const ignored = new Set([
  ...['-o', '--output', '-w', '--write-out', '-m', '--max-time', '--connect-timeout', '--retry', '--retry-delay', '-c'],
  ...['--cookie-jar', '-D', '--dump-header', '--retry-max-time', '--max-redirs', '--stderr', '--trace', '--limit-rate'],
])
/** Options with a value that the service cannot take over. */
const unsupported = new Set([
  ...['-x', '--proxy', '-E', '--cert', '--key', '--cacert', '--resolve', '--interface', '-T', '--upload-file', '-K'],
  ...[
    '--config',
    '-r',
    '--range',
    '--aws-sigv4',
    '--unix-socket',
    '--connect-to',
    '--ciphers',
    '-t',
    '--proxy-user',
    '-U',
  ],
])

class CurlReader {
  #method: string | undefined
  #url: string | undefined
  readonly #headers: [string, string][] = []
  readonly #data: string[] = []
  readonly #form: { name: string; value: string; isFile: boolean }[] = []
  readonly #notTaken: { path: string; reason: string }[] = []
  #isGet = false
  #isHead = false
  #isJson = false

  /** Reads a word. Returns how many further words belong to it. */
  take(word: string, next: string | undefined): number {
    if (!word.startsWith('-') || word === '-') {
      if (this.#url === undefined) this.#url = word
      else this.#refuse(word, 'Only the first URL is taken.')
      return 0
    }
    const [name, value, used, flags] = split(word, next)
    for (const flag of flags) this.#option(`-${flag}`, '')
    return this.#option(name, value) ? used : 0
  }

  end(): ReadRequest | undefined {
    const written = this.#url?.trim() ?? ''
    if (written === '') return undefined
    const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `http://${written}`
    const hasBody = this.#data.length > 0 && !this.#isGet
    const data = this.#data.join('&')
    const method = this.#method ?? (this.#isHead ? 'HEAD' : hasBody || this.#form.length > 0 ? 'POST' : 'GET')
    const headers = [...this.#headers]
    const hasType = headers.some(([name]) => /^content-type$/i.test(name))
    if (hasBody && this.#isJson && !hasType) headers.push(['Content-Type', 'application/json'])
    else if (hasBody && !hasType) headers.push(['Content-Type', 'application/x-www-form-urlencoded'])
    const query = this.#isGet && data !== '' ? `${url.includes('?') ? '&' : '?'}${data}` : ''
    const request: ForeignRequest = {
      ...{ method: method.toUpperCase(), url: url + query, headers },
      ...(hasBody ? { body: data } : {}),
      ...(this.#form.length > 0 ? { form: this.#form } : {}),
    }
    return { request, notTaken: this.#notTaken }
  }

  /** True if the option has a value. */
  #option(name: string, value: string): boolean {
    switch (name) {
      case '-X':
      case '--request':
        this.#method = value
        return true
      case '--url':
        this.#url ??= value
        return true
      case '-H':
      case '--header':
        this.#header(value)
        return true
      case '-A':
      case '--user-agent':
        this.#headers.push(['User-Agent', value])
        return true
      case '-e':
      case '--referer':
        this.#headers.push(['Referer', value])
        return true
      case '-b':
      case '--cookie':
        this.#refuse(name, 'Cookies are not taken.')
        return true
      case '-u':
      case '--user':
        this.#refuse(name, 'The user name and the password are not taken: create a credential for them.')
        return true
      case '--oauth2-bearer':
        this.#refuse(name, 'The token is not taken: create a credential for it.')
        return true
      case '--json':
        this.#isJson = true
        this.#take(name, value)
        return true
      case '-d':
      case '--data':
      case '--data-ascii':
      case '--data-binary':
      case '--data-raw':
        this.#take(name, value)
        return true
      case '--data-urlencode':
        this.#data.push(urlEncoded(value))
        return true
      case '-F':
      case '--form':
      case '--form-string':
        this.#field(value, name !== '--form-string')
        return true
      case '-G':
      case '--get':
        this.#isGet = true
        return false
      case '-I':
      case '--head':
        this.#isHead = true
        return false
      case '-k':
      case '--insecure':
        this.#refuse(name, 'Certificates are always checked. For a private authority, set it in a credential.')
        return false
      default:
        if (unsupported.has(name)) this.#refuse(name, 'The service has no such setting for a request.')
        return unsupported.has(name) || ignored.has(name)
    }
  }

  #header(text: string): void {
    const [, name = '', value = ''] = /^([^:;]+)[:;]\s*(.*)$/s.exec(text) ?? []
    if (name.trim() === '') return
    const header = name.trim()
    if (/^cookie$/i.test(header)) this.#refuse(`-H ${header}`, 'Cookies are not taken.')
    else if (/^(authorization|proxy-authorization|x-api-key|api-key|apikey)$/i.test(header) && value !== '') {
      this.#refuse(`-H ${header}`, `The header ${header} is not taken, because it has a secret: create a credential.`)
    } else this.#headers.push([header, value])
  }

  #take(name: string, value: string): void {
    if (value.startsWith('@') && name !== '--data-raw') this.#refuse(name, `The file ${value.slice(1)} is not taken.`)
    else this.#data.push(value)
  }

  #field(text: string, mayBeFile: boolean): void {
    const [, name = text, value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? []
    const isFile = mayBeFile && (value.startsWith('@') || value.startsWith('<'))
    this.#form.push({ name, value: isFile ? value.slice(1).split(';')[0]! : value, isFile })
    if (isFile) this.#refuse(`-F ${name}`, 'The file is not taken: choose a file of the run instead.')
  }

  #refuse(path: string, reason: string): void {
    this.#notTaken.push({ path, reason })
  }
}

/** The name and the value of an option, how many further words they take, and the flags that stand before it. */
function split(word: string, next: string | undefined): [name: string, value: string, used: number, flags: string] {
  if (word.startsWith('--')) {
    const [, name = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? []
    return value === undefined ? [word, next ?? '', next === undefined ? 0 : 1, ''] : [name, value, 0, '']
  }
  // Flags without a value may stand before another short option: -sSX POST.
  const flags = /^-[#0146aBfGgIiJjkLlNnOpqRSsvZ]+(?=[A-Za-z#])/.exec(word)?.[0].length ?? 0
  const rest = flags > 1 ? `-${word.slice(flags)}` : word
  const name = rest.slice(0, 2)
  return rest.length > 2 && /[XHdFubAeomxETKrwcDtU]/.test(name[1]!)
    ? [name, rest.slice(2), 0, word.slice(1, flags)]
    : [name, next ?? '', next === undefined ? 0 : 1, word.slice(1, flags)]
}

/** `--data-urlencode`: `content`, `=content` or `name=content`. */
function urlEncoded(text: string): string {
  const [, name, value] = /^([^=]*)=(.*)$/s.exec(text) ?? []
  if (value === undefined) return encodeURIComponent(text)
  return name === '' || name === undefined ? encodeURIComponent(value) : `${name}=${encodeURIComponent(value)}`
}
