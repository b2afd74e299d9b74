import { credentialBounds, credentialNameProblem } from './credential.ts'
import { hostProblem, hostsCover } from './hosts.ts'
import { type CredentialKind, type CredentialPart, credentialKind, credentialKindNames } from './kinds.ts'

/** A credential as its author describes it. */
export type WrittenCredential = {
  name: string
  kind: string
  hosts: readonly string[]
  fields: Readonly<Record<string, unknown>>
  secrets: Readonly<Record<string, string>>
}

type Problem = { path: string; message: string }

/** Everything that is wrong with a credential, for people. No message contains a secret. */
export function credentialProblems(credential: WrittenCredential): Problem[] {
  const { name, kind: kindName, hosts, fields, secrets } = credential
  const nameProblem = credentialNameProblem(name)
  const kind = credentialKind(kindName)
  return [
    ...(nameProblem === undefined ? [] : [{ path: 'name', message: nameProblem }]),
    ...hostProblems(hosts, kind),
    ...(kind ? uncoveredProblems(kind, hosts, fields) : []),
    ...sizeProblems({ fields, secrets }),
    ...(kind
      ? [
          ...groupProblems(kindName, 'fields', kind.fields, fields, fields),
          ...groupProblems(kindName, 'secrets', kind.secrets, secrets, fields),
          ...missingProblems(kindName, kind, { ...fields, ...secrets }),
        ]
      : [{ path: 'kind', message: unknownKind(kindName) }]),
  ]
}

function unknownKind(kind: string): string {
  return `"${kind.slice(0, 100)}" is not a kind of credential. The kinds are ${credentialKindNames.join(', ')}.`
}

/** A kind with a `host` of its own needs no list. */
function hostProblems(hosts: readonly string[], kind: CredentialKind | undefined): Problem[] {
  if (hosts.length === 0 && !kind?.fields['host']) {
    return [{ path: 'hosts', message: 'Name at least one host that the credential may be sent to.' }]
  }
  const { hostsMax } = credentialBounds
  if (hosts.length > hostsMax) return [{ path: 'hosts', message: `A credential can have at most ${hostsMax} hosts.` }]
  return hosts.flatMap((host, index) => {
    const message = hostProblem(host)
    return message === undefined ? [] : [{ path: `hosts.${index}`, message }]
  })
}

/** The hosts that a credential has if its author names none. */
export function defaultHosts({ kind, fields }: Pick<WrittenCredential, 'kind' | 'fields'>): readonly string[] {
  const { hostsFrom } = credentialKind(kind) ?? {}
  const url = hostsFrom === undefined ? null : writtenUrl(fields[hostsFrom])
  return url ? [url.host] : []
}

function uncoveredProblems(
  { hostsFrom }: CredentialKind,
  hosts: readonly string[],
  fields: WrittenCredential['fields'],
) {
  const url = hostsFrom === undefined ? null : writtenUrl(fields[hostsFrom])
  if (!url || hosts.length === 0 || hostsCover(hosts, url)) return []
  const entry = url.protocol === 'https:' ? url.host : url.origin
  return [{ path: 'hosts', message: `The hosts must include that of the ${hostsFrom}: add ${entry}.` }]
}

/** Null for a text that is not a URL, and for one with variables. */
function writtenUrl(value: unknown): URL | null {
  if (typeof value !== 'string' || value.includes('{{')) return null
  const url = URL.parse(value)
  return url && /^https?:$/.test(url.protocol) ? url : null
}

function sizeProblems(parts: Readonly<Record<string, unknown>>): Problem[] {
  const { bytesMax } = credentialBounds
  return Object.entries(parts).flatMap(([path, value]) =>
    Buffer.byteLength(JSON.stringify(value)) > bytesMax
      ? [{ path, message: `The ${path} of a credential have at most ${bytesMax} bytes as JSON.` }]
      : [],
  )
}

function missingProblems(
  kindName: string,
  { needsOneOf = [], needs = {} }: CredentialKind,
  given: WrittenCredential['fields'],
): Problem[] {
  const alternatives = needsOneOf
    .filter((names) => names.every((name) => !isSet(given[name])))
    .map((names) => ({ path: '', message: `A credential of kind ${kindName} needs ${names.join(' or ')}.` }))
  const companions = Object.entries(needs).flatMap(([name, others]) => {
    const missing = isSet(given[name]) ? others.filter((other) => !isSet(given[other])) : []
    return missing.map((other) => ({
      path: '',
      message: `A credential of kind ${kindName} with ${name} needs ${other}.`,
    }))
  })
  return [...alternatives, ...companions]
}

function groupProblems(
  kindName: string,
  group: 'fields' | 'secrets',
  parts: CredentialKind['fields'],
  given: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>>,
): Problem[] {
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(parts, name))
  const known = Object.keys(parts).join(', ')
  return [
    ...unknown.map((name) => ({
      path: `${group}.${name.slice(0, 100)}`,
      message: `A credential of kind ${kindName} has no such member. It has ${known}.`,
    })),
    ...Object.entries(parts).flatMap(([name, part]) => {
      const isNeeded = !part.when || part.when.is.includes(String(fields[part.when.field]))
      const message = isNeeded || isSet(given[name]) ? partProblem(part, given[name]) : undefined
      return message === undefined ? [] : [{ path: `${group}.${name}`, message }]
    }),
  ]
}

function partProblem(
  { label, isRequired, isLong, isTexts, isUrl, isStatuses, isPort, choices }: CredentialPart,
  value: unknown,
): string | undefined {
  if (!isSet(value)) return isRequired ? `${label} is required.` : undefined
  if (isTexts) return areTexts(value) ? undefined : `${label} must be an object of texts.`
  if (isStatuses && !areStatuses(value)) return `${label} must be HTTP statuses, such as 401, 403.`
  if (isStatuses) return undefined
  if (isPort) return isPortNumber(value) ? undefined : `${label} must be a number from 1 to 65535.`
  if (typeof value !== 'string') return `${label} must be a text.`
  if (!value.isWellFormed()) return `${label} is not valid text: it contains half of a character (a lone surrogate).`
  // A line break in a header or address would be refused later, or change what is sent.
  if (!isLong && /\p{Cc}/u.test(value)) return `${label} must not contain line breaks or control characters.`
  if (isUrl && !value.includes('{{') && !isPlainUrl(value)) {
    return `${label} must be an http or https URL without a user name and a fragment.`
  }
  return !choices || choices.includes(value) ? undefined : `${label} must be one of ${choices.join(', ')}.`
}

const isSet = (value: unknown) => value !== undefined && value !== null && value !== ''

function isPlainUrl(value: string): boolean {
  const url = writtenUrl(value)
  return url !== null && url.username === '' && url.password === '' && url.hash === ''
}

function areStatuses(value: unknown): boolean {
  if (typeof value === 'string') return /^\s*[345]\d\d(\s*,\s*[345]\d\d)*\s*$/.test(value)
  return Array.isArray(value) && value.every((each) => Number.isInteger(each) && each >= 300 && each <= 599)
}

function isPortNumber(value: unknown): boolean {
  if (typeof value === 'string' && value.includes('{{')) return true
  const port = typeof value === 'string' && /^\s*\d{1,5}\s*$/.test(value) ? Number(value) : value
  return Number.isInteger(port) && (port as number) >= 1 && (port as number) <= 65_535
}

function areTexts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.values(value).every((each) => typeof each === 'string' && each.isWellFormed())
}
