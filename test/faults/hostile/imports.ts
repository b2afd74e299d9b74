import type { Attack } from './attacks.ts'
import type { Target } from './target.ts'

/** Workflow files of Sim within the limits on bytes, blocks and edges that take long to convert. */
export function importAttacks({ url, apiKey, workspaceId }: Target): Attack[] {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const imported = (state: object) => ({
    ...{ url: `${url}/api/workflows/import`, method: 'POST', headers },
    bytes: Buffer.from(
      JSON.stringify({ workspaceId, update: true, document: { version: '1.0', state: { metadata, ...state } } }),
    ),
  })
  return Object.entries(worstStates()).map(([name, state]) => ({
    name: `an import of ${name}`,
    requests: Array.from({ length: 4 }, () => imported(state)),
  }))
}

const metadata = { name: 'Worst import' }
const blocksMax = 1_990

function worstStates(): Record<string, object> {
  const blocksOf = (count: number, block: (n: number) => object) =>
    Object.fromEntries(list(count, (n) => [`b${n}`, { id: `b${n}`, name: `b${n}`, ...block(n) }]))
  const one = (type: string, subBlocks: object) => ({
    blocks: { s: { type: 'start_trigger' }, b: { type, subBlocks } },
  })
  const edges = (count: number) =>
    list(count, (n) => ({ source: `b${n % blocksMax}`, target: `b${(n * 7) % blocksMax}` }))
  const routers = blocksOf(blocksMax, () => ({ type: 'router' }))
  return {
    '2,000 blocks with one name': { blocks: blocksOf(blocksMax, () => ({ type: 'wait', name: 'Same' })) },
    '2,000 routers with 10,000 edges': { blocks: routers, edges: edges(10_000) },
    'one router with 10,000 edges': {
      blocks: { ...blocksOf(blocksMax, () => ({ type: 'wait' })), r: { type: 'router' } },
      edges: list(10_000, (n) => ({ source: 'r', target: `b${n % blocksMax}` })),
    },
    'a chain of 2,000 containers': {
      blocks: blocksOf(blocksMax, (n) => ({ type: 'loop', data: { parentId: `b${(n + 1) % blocksMax}` } })),
    },
    'code with 300,000 references': one('function', { code: { value: '<start.a>'.repeat(200_000) } }),
    'code with unknown references': one('function', {
      code: { value: list(150_000, (n) => `<q${n}.b>`).join('') },
    }),
    'text of open brackets': one('function', { code: { value: '<'.repeat(1_900_000) } }),
    '90,000 sub-blocks': one('agent', Object.fromEntries(list(60_000, (n) => [`s${n}`, { value: 'x' }]))),
    '30,000 tools of one title': one('agent', {
      tools: { value: list(30_000, () => ({ type: 'api', title: 'Same' })) },
    }),
    '30,000 conditions of one ID': one('condition', { conditions: { value: list(50_000, () => ({ id: 'x' })) } }),
    'JSON text in JSON text': one('response', {
      dataMode: { value: 'structured' },
      builderData: { value: nested(15) },
    }),
    '20,000 variables of one name': { blocks: {}, variables: list(20_000, () => ({ name: 'same' })) },
  }
}

/** Each level doubles the backslashes of the one inside it. */
function nested(levels: number): string {
  let text = '[]'
  for (let level = 0; level < levels; level += 1) text = JSON.stringify([{ name: 'a', type: 'object', value: text }])
  return text
}

function list<Item>(length: number, item: (n: number) => Item): Item[] {
  return Array.from({ length }, (_, n) => item(n))
}
