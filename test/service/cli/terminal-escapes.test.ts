import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import '../../support/built.ts'
import { cleanEnvironment, executable, millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'

const escapes = '\\x1b]0;owned\\x07\\x1b[2J\\x9b2J'
const flow = (code: string) =>
  document({
    blocks: [block('start', 'manual_trigger'), block('f', 'function', { code })],
    edges: ['start > f'],
  })

/** Runs the executable at a terminal. Returns what the terminal shows. */
async function atTerminal(...words: string[]): Promise<string> {
  let shown = ''
  const decoder = new TextDecoder()
  const child = Bun.spawn([executable(), ...words], {
    env: cleanEnvironment({ TERM: 'xterm' }),
    terminal: {
      cols: 200,
      rows: 50,
      data: (_terminal, bytes) => {
        shown += decoder.decode(bytes, { stream: true })
      },
    },
  })
  await child.exited
  await Bun.sleep(50)
  return shown
}

test('texts of workflows cannot control the terminal', async () => {
  using folder = temporaryFolder()
  const file = (name: string, code: string) => {
    const path = join(folder.path, name)
    writeFileSync(path, JSON.stringify(flow(code)))
    return path
  }
  const failing = file('failing.json', `throw new Error("${escapes} err")`)
  const returning = file('returning.json', `return { text: "${escapes}" }`)
  const failed = await millrace(['run', failing, '--verbose'])
  expect(failed.code).toBe(1)
  expect(failed.words).toContain('\\u001b]0;owned\\u0007\\u001b[2J\\u009b2J err')
  const returned = await millrace(['run', returning])
  expect(JSON.parse(returned.out).result.text).toBe('\x1b]0;owned\x07\x1b[2J\x9b2J')
  const shown = (await atTerminal('run', failing)) + (await atTerminal('run', returning, '--json'))
  expect(shown).toContain('owned')
  // Every control character except tab, line feed and carriage return.
  const controls = /(?![\t\n\r])\p{Cc}/u
  for (const text of [failed.words, returned.out, shown]) expect(text).not.toMatch(controls)
})
