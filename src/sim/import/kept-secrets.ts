import { isObject, setMember } from '../../domain/run/input.ts'
import { isSecretHeader } from '../../domain/secret-headers.ts'
import type { Block } from '../../domain/workflow/workflow.ts'
import { parseJson } from './sim-values.ts'

/** Members that hold secrets in blocks and tools of Sim. */
const secretName =
  /(?:api_?key|token|secret|secret_?(?:access_?)?key|password|passphrase|private_?key|connection_?string)$/i
/** Tokens that only continue a list. */
const harmlessToken = /(?:page|next|sync|continuation|continue|cursor)_?token$/i

/**
 * Removes secrets from the parts of a block that the import keeps without effect: nothing encrypts these parts.
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
  const list = [...names].slice(0, 20).join(', ')
  return names.size === 0 ? undefined : `The file contains secrets in ${list}. They were not kept.`
}

function withoutSecrets(value: unknown, names: Set<string>, name = ''): unknown {
  if (typeof value === 'string') return isSecret(name, value) ? emptied(name, names) : withoutInner(value, names)
  if (Array.isArray(value)) return value.map((item: unknown) => withoutSecrets(item, names))
  if (!isObject(value)) return value
  const copy: Record<string, unknown> = {}
  const { Key: header } = value
  for (const [key, member] of Object.entries(value)) {
    // A row of a table with headers is `{ Key, Value }`.
    if (key === 'Value' && typeof member === 'string' && typeof header === 'string' && isSecretHeader(header)) {
      const isSecretText = !member.includes('{{') && isWrittenOut(member)
      setMember(copy, key, isSecretText ? emptied(header, names) : member)
      continue
    }
    // A sub-block is `{ id, type, value }`, and its name is the member's.
    setMember(copy, key, withoutSecrets(member, names, key === 'value' && name !== '' ? name : key))
  }
  return copy
}

/** Secrets in JSON that is written as text. */
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
  return secretName.test(name) && !harmlessToken.test(name) && isWrittenOut(text)
}

/** Whether a secret is in the text itself, and not in a variable or another block. */
function isWrittenOut(text: string): boolean {
  return text.trim() !== '' && !/^\s*(?:\{\{[^{}]*\}\}|<[^<>]+>)\s*$/.test(text)
}

function emptied(name: string, names: Set<string>): string {
  names.add(name)
  return ''
}
