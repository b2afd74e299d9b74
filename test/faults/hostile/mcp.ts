import type { Attack, AttackRequest } from './attacks.ts'
import { sent, valueBombs } from './bodies.ts'
import type { Target } from './target.ts'

/** Requests to the MCP server, with a key. */
export function mcpAttacks({ url, apiKey, ordinary }: Target): Attack[] {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const post = (text: string): AttackRequest => ({
    url: `${url}/mcp`,
    method: 'POST',
    headers,
    bytes: Buffer.from(text),
  })
  const rpc = (method: string, params: string, id = '1') =>
    post(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`)
  const tool = (name: string, given: string, more = '') =>
    rpc('tools/call', `{"name":"${name}","arguments":${given}${more}}`)
  const four = (name: string, request: AttackRequest): Attack => ({
    name: `mcp ${name}, 4 at once`,
    requests: Array(4).fill(request),
  })
  const workflowId = ordinary.split('/').at(-2) ?? ''
  const edits = (list: string) => tool('edit_workflow', `{"workflowId":"${workflowId}","edits":[${list}]}`)
  const block = (n: number) => `{"op":"add_block","block":{"id":"n${n}","type":"api","name":"N${n}"}}`
  const set = (value: string) => `{"op":"set","path":["blocks","start","params","x"],"value":${value}}`
  const long = 'x'.repeat(1_000_000)
  return [
    ...valueBombs().map((plain) => {
      const body = sent(plain, 'zstd')
      const request = {
        url: `${url}/mcp`,
        method: 'POST',
        headers: { ...body.headers, authorization: `Bearer ${apiKey}` },
      }
      return four(plain.name, { ...request, bytes: body.bytes })
    }),
    four('arguments that do not fit', tool('get_run', `{${names(100_000)}}`)),
    four('edits that do not fit', edits(`${'0,'.repeat(150_000)}0`)),
    four('edits of one wrong kind', edits(`${'{"op":"x"},'.repeat(99)}{"op":"x"}`)),
    four('a hundred new blocks', edits(Array.from({ length: 100 }, (_, n) => block(n)).join())),
    four(
      'large values',
      edits(
        Array(5)
          .fill(set(`"${long}"`))
          .join(),
      ),
    ),
    four(
      'a document of many blocks',
      tool('create_workflow', `{"name":"x","document":{"blocks":{${blocks(20_000)}}}}`),
    ),
    {
      name: 'mcp messages that do not fit',
      requests: [
        ...['', 'null', '[]', '{', '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":{},"method":"ping"}'].map(post),
        post(`{"jsonrpc":"2.0","id":"${long}","method":"ping"}`),
        post(`[${'{"jsonrpc":"2.0","id":1,"method":"ping"},'.repeat(10_000)}0]`),
        rpc(long, '{}'),
        rpc('tools/list', '{"cursor":"-1"}'),
        rpc('tools/list', '{"cursor":"1e308"}'),
        rpc('tools/call', '{"name":"__proto__"}'),
        rpc('tools/call', `{"name":"${long}"}`),
        ...['..', '%2e%2e', '../../x', long].map((id) => tool('get_workflow', `{"workflowId":"${id}"}`)),
        ...['..', '__proto__', long].map((id) => tool('describe_operation', `{"connector":"${id}"}`)),
        edits('{"op":"set","path":["__proto__","x"],"value":1}'),
        edits('{"op":"set","path":["blocks","__proto__"],"value":{}}'),
        edits('{"op":"rename_block","id":"constructor","name":"x"}'),
        edits('{"op":"set","path":["blocks","start"],"value":{}},{"op":"rename_block","id":"start","name":"x"}'),
      ],
    },
    {
      name: 'mcp answers to questions that nobody asked',
      requests: [
        ...['', 'ask', `ask.${'a'.repeat(22)}.1.x`, `ask.${'a'.repeat(22)}.1.${'y'.repeat(100)}`, long].flatMap(
          (id) => [
            post(`{"jsonrpc":"2.0","id":"${id}","result":{"action":"accept","content":{"x":1}}}`),
            post(`{"jsonrpc":"2.0","id":"${id}","result":{"action":"cancel"}}`),
            post(`{"jsonrpc":"2.0","id":"${id}","error":{"code":1,"message":"x"}}`),
          ],
        ),
        post('{"jsonrpc":"2.0","id":1,"result":null}'),
        post(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{${names(100_000)}}}}`),
      ],
    },
    {
      name: 'mcp calls with the same ID, and cancellations of all of them',
      requests: Array.from({ length: 500 }, (_, n) =>
        n % 2 === 0
          ? tool('list_blocks', '{}', ',"_meta":{"progressToken":"t"}')
          : post('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'),
      ),
      atOnce: 50,
    },
    {
      name: 'mcp requests from pages of other origins',
      requests: ['null', 'https://evil.example', `https://${'x'.repeat(4_000)}`, 'http://['].map((origin) => {
        const request = rpc('ping', '{}')
        return { ...request, headers: { ...request.headers, origin } }
      }),
    },
    {
      name: 'mcp runs of a draft at once',
      requests: Array(60).fill(tool('run_draft', `{"workflowId":"${workflowId}"}`)),
    },
  ]
}

function names(count: number): string {
  return Array.from({ length: count }, (_, n) => `"m${n}":0`).join()
}

function blocks(count: number): string {
  return Array.from({ length: count }, (_, n) => `"b${n}":{"type":"api","name":"B${n}"}`).join()
}
