import { isObject, setMember } from '../../domain/run/input.ts'
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
  for (const [key, member] of Object.entries(value)) {
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
  if (!secretName.test(name) || harmlessToken.test(name) || text.trim() === '') return false
  return !/^\s*(?:\{\{[^{}]*\}\}|<[^<>]+>)\s*$/.test(text)
}

function emptied(name: string, names: Set<string>): string {
  names.add(name)
  return ''
}
