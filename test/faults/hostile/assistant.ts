import type { Attack, AttackRequest } from './attacks.ts'
import { sent, valueBombs } from './bodies.ts'
import type { Target } from './target.ts'

/** Requests to the assistant of the editor, with a key. Its model responds with bodies that are large or no JSON. */
export function assistantAttacks({ apiKey, ordinary }: Target): Attack[] {
  const url = ordinary.replace(/execute$/, 'assistant')
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const post = (text: string): AttackRequest => ({ url, method: 'POST', headers, bytes: Buffer.from(text) })
  const four = (name: string, request: AttackRequest): Attack => ({
    name: `assistant ${name}, 4 at once`,
    requests: Array(4).fill(request),
  })
  const ask = (document: string) => post(`{"messages":[{"role":"user","content":"Hello"}],"document":${document}}`)
  const block = (n: number) => `"n${n}":{"id":"n${n}","type":"function","name":"N${n}","params":{"code":"return 1"}}`
  const blocks = (count: number) =>
    `{"name":"x","blocks":{${Array.from({ length: count }, (_, n) => block(n))}},"edges":[]}`
  const long = 'x'.repeat(1_000_000)
  return [
    ...valueBombs().map((plain) => {
      const body = sent(plain, 'zstd')
      const request = { url, method: 'POST', headers: { ...body.headers, 'x-api-key': apiKey } }
      return four(plain.name, { ...request, bytes: body.bytes })
    }),
    four('a document of many blocks', ask(blocks(1_900))),
    four('a document of too many blocks', ask(blocks(20_000))),
    four('messages that do not fit', post(`{"messages":[${'0,'.repeat(150_000)}0]}`)),
    {
      name: 'assistant requests that do not fit',
      requests: [
        ...['', 'null', '[]', '{', '{"messages":{}}', '{"messages":[]}'].map(post),
        post(`{"messages":[{"role":"system","content":"x"}]}`),
        post(`{"messages":[{"role":"user","content":"${long}"}]}`),
        ...['null', '[]', '{}', '{"__proto__":1}', `"${long}"`].map(ask),
      ],
    },
  ]
}
