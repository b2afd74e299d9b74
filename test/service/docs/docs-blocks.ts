import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dir, '../../..')

/** The pages for users, by their path in the repository. */
export const userPages: readonly string[] = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .toSorted()
    .map((file) => `docs/${file}`),
]

/** The text of a file in the repository. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** A fenced code block. `line` is the number of its first line of code, from 1. */
export type CodeBlock = {
  page: string
  line: number
  language: string
  code: string
  /** Why the block is not run, from the comment `<!-- not run: reason -->` above it. */
  notRun: string | undefined
}

export function codeBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  const lines = readText(page).split('\n')
  let lastText = ''
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent, language] = /^( *)```(\S*)\s*$/.exec(lines[index]!) ?? []
    if (indent === undefined || language === undefined) {
      if (lines[index]!.trim() !== '') lastText = lines[index]!.trim()
      continue
    }
    const end = lines.findIndex((line, at) => at > index && line.trim() === '```')
    if (end < 0) throw new Error(`${page}:${index + 1}: this code block has no end`)
    const code = lines
      .slice(index + 1, end)
      .map((line) => line.slice(indent.length))
      .join('\n')
    blocks.push({ page, line: index + 2, language, code, notRun: /^<!-- not run: (.+) -->$/.exec(lastText)?.[1] })
    lastText = ''
    index = end
  }
  return blocks
}
