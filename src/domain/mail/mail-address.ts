/** Explains what is wrong with an address such as `ada@example.com`; undefined when it is valid. */
export function mailAddressProblem(address: string): string | undefined {
  const at = address.lastIndexOf('@')
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)]
  const isValid = at > 0 && address.length <= addressCharsMax && isLocalPart(local) && isDomain(domain)
  return isValid ? undefined : `"${shown(address)}" is not a valid e-mail address.`
}

/** RFC 5321 allows 254 in a path. */
const addressCharsMax = 254

/** A dot-atom (RFC 5322), with letters of any script. Quoted parts are not accepted, because nobody uses them. */
function isLocalPart(local: string): boolean {
  return Buffer.byteLength(local) <= 64 && /^[^\s"(),:;<>@[\\\]\p{C}.]+(\.[^\s"(),:;<>@[\\\]\p{C}.]+)*$/u.test(local)
}

function isDomain(domain: string): boolean {
  if (domain === '' || /[^\p{L}\p{M}\p{N}.-]/u.test(domain)) return false
  const url = URL.parse(`http://${domain}/`)
  // A number would be read as an IPv4 address.
  if (!url || /^\d+(\.\d+){3}$/.test(url.hostname)) return false
  return url.hostname.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
}

function shown(address: string): string {
  const plain = address.replaceAll(/\p{C}/gu, '�')
  return plain.length > 100 ? `${plain.slice(0, 100)}…` : plain
}

/** A valid address with its domain in lower case and ASCII, as mail servers compare it. */
export function plainMailAddress(address: string): string {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  return `${address.slice(0, at)}@${URL.parse(`http://${domain}/`)?.hostname ?? domain}`
}
