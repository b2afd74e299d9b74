import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { callTool } from './mcp-client.ts'

type Answer<Value> = { isError: boolean; text: string; value: Value }

/**
 * A conversation with the tools, which is compared with a recording: a file that people can read. `UPDATE_RECORDINGS=1`
 * writes the file again.
 */
export class Conversation {
  readonly #client: Client
  readonly #parts: string[] = []
  /** The numbers of IDs in the recording. */
  readonly #ids = new Map<string, number>()

  constructor(client: Client) {
    this.#client = client
  }

  /** Calls a tool. The result may be a refusal. */
  async call<Value = Record<string, never>>(tool: string, given: Record<string, unknown> = {}): Promise<Answer<Value>> {
    const { content, structuredContent, isError = false } = await callTool(this.#client, tool, given)
    const text = content.map((part) => part.text).join('\n')
    // Catalogues grow with the product.
    const linesMax = /^(list_blocks|describe_)/.test(tool) ? catalogueLinesMax : resultLinesMax
    const shown = isError ? text : linesOf(structuredContent, linesMax)
    this.#parts.push(`## ${tool}`, fenced(linesOf(given, Infinity)), isError ? 'Refused:' : 'Result:', fenced(shown))
    return { isError, text, value: structuredContent as Value }
  }

  /** The same for a call that must succeed. */
  async do<Value = Record<string, never>>(tool: string, given: Record<string, unknown> = {}): Promise<Value> {
    const { isError, text, value } = await this.call<Value>(tool, given)
    if (isError) throw new Error(`${tool} was refused: ${text}`)
    return value
  }

  /** The conversation and its recording, to be compared. */
  compare(title: string, path: string): { said: string; recorded: string } {
    const said = this.#plain(`${[`# ${title}`, ...this.#parts].join('\n\n')}\n`)
    if (process.env['UPDATE_RECORDINGS'] === '1') writeFileSync(path, said)
    return { said, recorded: existsSync(path) ? readFileSync(path, 'utf8') : '' }
  }

  /** Without the parts that differ each time. */
  #plain(text: string): string {
    return text
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (id) => {
        if (!this.#ids.has(id)) this.#ids.set(id, this.#ids.size + 1)
        return `<id ${this.#ids.get(id)}>`
      })
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/"durationMs": [\d.]+/g, '"durationMs": 1')
      .replaceAll(/"nextCursor": "\w+"/g, '"nextCursor": "…"')
      .replaceAll(/(The types are \w+), [^.]+/g, '$1, …')
  }
}

const resultLinesMax = 80
const catalogueLinesMax = 12

function linesOf(value: unknown, linesMax: number): string {
  const lines = JSON.stringify(value, null, 2).split('\n')
  return lines.length > linesMax ? [...lines.slice(0, linesMax), '…'].join('\n') : lines.join('\n')
}

function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``
}
