import { isObject, setMember } from '../../domain/run/input.ts'
import { isSecretHeader } from '../../domain/secret-headers.ts'
import type { Block } from '../../domain/workflow/workflow.ts'
import { parseJson } from './sim-values.ts'

/** The ends of names that hold secrets in blocks and tools of Sim. */
const secretName = new RegExp(
  `(?:${[
    ...['token', 'secret', 'password', 'passwd', 'passphrase', 'authorization', 'cookie', 'jwt'],
    ...['connection[_-]?(?:string|ur[li])', 'database[_-]?ur[li]', 'secret[_-]?access[_-]?key'],
    `(?:${[
      ...['access', 'account', 'admin', 'api', 'app', 'application', 'auth', 'encryption', 'integration', 'license'],
      ...['master', 'private', 'role', 'routing', 'secret', 'shared', 'signing', 'subscription', 'webhook', 'write'],
    ].join('|')})[_-]?key`,
  ].join('|')})$`,
  'i',
)
/** Pagination tokens, which are not secrets. */
const harmlessToken = /(?:page|next|sync|continuation|continue|cursor)_?token$/i

/** Texts that are secrets, whatever their names are: the value of a header, and addresses that accept messages. */
const secretText =
  /^\s*(?:Bearer\s+[\w.~+/=-]{8,}\s*$|https:\/\/(?:hooks\.slack\.com\/(?:services|workflows|triggers)\/|(?:\w+\.)?discord(?:app)?\.com\/api\/webhooks\/))/i

/** The password in an address, such as that of a database. Begins with a fixed text, so that it is in linear time. */
const passwordInAddress = /:\/\/([^\s:@/]*):([^\s@/]+)@/g

/**
 * Removes secrets from the parts of a block that the import keeps without effect: these parts are not encrypted.
 * Variables and references stay. Returns a sentence for the report if there were secrets.
 */
export function removeKeptSecrets(block: Block): string | undefined {
  const names = new Set<string>()
  if (block.origin?.values) {
    block.origin = { ...block.origin, values: withoutSecrets(block.origin.values, names) as Record<string, unknown> }
  }
  if (block.type === 'placeholder' && block.params) {
    block.params = { ...block.params, original: withoutSecrets(block.params['original'], names) }
  }
  return sentenceAbout(names)
}

/** The same for parts of a file that belong to no block. */
export function keepWithoutSecrets(values: Record<string, unknown>): {
  values: Record<string, unknown>
  note: string | undefined
} {
  const names = new Set<string>()
  const kept = withoutSecrets(values, names) as Record<string, unknown>
  return { values: kept, note: sentenceAbout(names) }
}

function sentenceAbout(names: ReadonlySet<string>): string | undefined {
  const list = [...names].slice(0, 20).join(', ')
  return names.size === 0 ? undefined : `The file contains secrets in ${list}. The import did not keep them.`
}

function withoutSecrets(value: unknown, names: Set<string>, name = ''): unknown {
  if (typeof value === 'string') {
    return isSecret(name, value) ? emptied(name, names) : withoutPassword(withoutInner(value, names), name, names)
  }
  if (typeof value === 'number') return isSecret(name, String(value)) ? emptied(name, names) : value
  if (Array.isArray(value)) return value.map((item: unknown) => withoutSecrets(item, names, name))
  if (!isObject(value)) return value
  const copy: Record<string, unknown> = {}
  const header = headerOf(value)
  for (const [key, member] of Object.entries(value)) {
    if (/^value$/i.test(key) && typeof member === 'string' && header !== undefined && isWrittenOut(member)) {
      setMember(copy, key, emptied(header, names))
      continue
    }
    // A sub-block is `{ id, type, value }`, and its name is the member's.
    setMember(copy, key, withoutSecrets(member, names, key === 'value' && name !== '' ? name : key))
  }
  return copy
}

/** The name of a header with a secret, if an object is a row of a table: `{ Key, Value }` or `{ key, value }`. */
function headerOf(row: Record<string, unknown>): string | undefined {
  const name = row['Key'] ?? row['key'] ?? row['name']
  return typeof name === 'string' && isSecretHeader(name) ? name : undefined
}

function withoutPassword(text: string, name: string, names: Set<string>): string {
  return text.replace(passwordInAddress, (source: string, user: string, password: string) => {
    if (!isWrittenOut(password)) return source
    names.add(name)
    return `://${user}@`
  })
}

/** Removes secrets from JSON inside a text. */
function withoutInner(text: string, names: Set<string>): string {
  if (!/^\s*[[{]/.test(text)) return text
  const inner = parseJson(text)
  if (typeof inner !== 'object' || inner === null) return text
  const found = new Set<string>()
  const copy = withoutSecrets(inner, found)
  for (const name of found) names.add(name)
  return found.size === 0 ? text : JSON.stringify(copy)
}

function isSecret(name: string, text: string): boolean {
  const isNamed = secretName.test(name) && !harmlessToken.test(name)
  return (isNamed || secretText.test(text)) && isWrittenOut(text)
}

/** Whether the text is the secret itself, and not a reference to a variable or another block. */
function isWrittenOut(text: string): boolean {
  return text.trim() !== '' && !/\{\{[^{}]*\}\}|<[A-Za-z][^<>\s]*>/.test(text) && !/^\s*<[^<>]+>\s*$/.test(text)
}

function emptied(name: string, names: Set<string>): string {
  names.add(name)
  return ''
}
