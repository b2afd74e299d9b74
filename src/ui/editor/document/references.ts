import { referencedName } from '../../../domain/edits/rename-references.ts'
import { type Document, normaliseName } from './document.ts'

/** A reference in a text: `name` is normalised; `path` is as written, such as `.data[0]["a b"]`. */
export type WrittenReference = { name: string; path: string; first: string; rest: string }

/**
 * Replaces references in a text. `map` returns the new text of a reference, or undefined to keep it. The syntax is that
 * of the service (`domain/workflow/reference.ts`); a test compares both.
 */
export function mapReferences(text: string, map: (reference: WrittenReference) => string | undefined): string {
  if (!text.includes('<')) return text
  return text.replaceAll(pattern, (whole, ...groups) => {
    const { name, first, rest } = groups.at(-1) as { name?: string; first?: string; rest?: string }
    if (name === undefined || first === undefined) return whole
    const path = `${first}${rest ?? ''}`
    return map({ name: normaliseName(name), path, first, rest: rest ?? '' }) ?? whole
  })
}

const key = String.raw`\.[^\s.[\]<>"'\x60(){},;=&|!?:+*/\\%^~]+`
const quoted = String.raw`\[(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')\]`
const step = String.raw`(?:${key}|\[\d{1,9}\]|${quoted})`
// Environment variables come first, because a reference cannot begin inside one.
const pattern = new RegExp(
  String.raw`\{\{[A-Za-z_][A-Za-z0-9_]*\}\}|<(?<name>[^\s<>.][^<>.\n]{0,199}?)(?<first>${step})(?<rest>${step}*)>`,
  'gu',
)

/** The member that the first step of a path reads: `.data` and `["data"]` read `data`. */
export function memberOf(first: string): string {
  if (first.startsWith('.')) return first.slice(1)
  const inner = first.slice(1, -1)
  return /^\d/.test(inner) ? inner : inner.slice(1, -1).replaceAll(/\\(.)/g, '$1')
}

/** The name of a block in a reference: `from` and `to` enclose it; `name` is normalised. */
export type NameInReference = { name: string; from: number; to: number }

/** The names of blocks in the references of a text: exactly those that follow when a block is renamed. */
export function namesInReferences(text: string): NameInReference[] {
  if (!text.includes('<')) return []
  return [...text.matchAll(referencedName)].map(({ index, 1: name = '' }) => ({
    name: normaliseName(name),
    from: index + 1,
    to: index + 1 + name.length,
  }))
}

/** The names by which the blocks of a document can be referred to. */
export function referableNames({ blocks }: Document, startsOf: (type: string) => string | null): Set<string> {
  const names = new Set(['loop', 'parallel', 'variable', 'args'])
  for (const { name, type } of Object.values(blocks)) {
    names.add(normaliseName(name))
    const starts = startsOf(type)
    if (starts !== null) names.add(starts)
  }
  return names
}
