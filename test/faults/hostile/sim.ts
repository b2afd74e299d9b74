import type { Attack, AttackRequest } from './attacks.ts'
import { worstDocuments } from './documents.ts'
import type { Target } from './target.ts'

/** Files and lists in the shapes of Sim. */
export function simAttacks({ url, apiKey, workspaceId, filesEndpoint }: Target, isShort: boolean): Attack[] {
  const documents = Object.entries(worstDocuments()).slice(0, isShort ? 2 : undefined)
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const get = (path: string): AttackRequest => ({ url: `${url}${path}`, method: 'GET', headers })
  const post = (path: string, body: string): AttackRequest => ({
    ...{ url: `${url}${path}`, method: 'POST', headers, bytes: Buffer.from(body) },
  })
  // Saving changes only the draft. The deployed version stays.
  const draft = filesEndpoint.replace('/execute', '')
  const then = () => ({ url: `${draft.replace('/api/', '/api/v2/')}/export`, method: 'GET' })
  const exported = (text: string): AttackRequest => ({
    url: draft,
    method: 'PUT',
    headers,
    bytes: Buffer.from(text),
    then,
  })
  return [
    {
      name: 'Sim import: a file as text, 4 at once',
      requests: Array<AttackRequest>(4).fill(post('/api/v2/workflows/import', fileAsText(workspaceId))),
    },
    ...documents.map(([name, text]) => ({
      ...{ name: `Sim export: ${name}`, requests: [exported(text)] },
    })),
    {
      name: 'version 2: tampered cursors, filters and paths',
      requests: lists(workspaceId).flatMap((list) =>
        oddValues.flatMap((value) =>
          ['cursor', 'limit', 'search', 'sortBy', 'folderPath', 'parentPath', 'scope', 'workspaceId'].map((name) =>
            get(`${list}&${name}=${value}`),
          ),
        ),
      ),
      atOnce: 8,
    },
    {
      name: 'version 2: odd IDs and names',
      requests: oddValues.flatMap((id) => [
        ...['', '/export', '/state', '/deployment', '/versions', `/versions/${id}`].map((rest) =>
          get(`/api/v2/workflows/${id}${rest}`),
        ),
        ...[get(`/api/v2/workspaces/${id}`), get(`/api/v1/workflows/${id}/export`)],
        post(`/api/v2/workflows/${id}/rollback`, '{"version":1e308}'),
      ]),
      atOnce: 8,
    },
  ]
}

const oddValues = [
  ...['%00', '%ff', '..%2f..', '%F0%9F%92%A9', '%27%20OR%201=1--', '-1', '1e999', 'null', 'WzFd', 'W10', 'WyJhIl0'],
  ...['a'.repeat(3_000), '%2F'.repeat(1_000), 'WzkwMDcxOTkyNTQ3NDA5OTMsMSwiYSJd'],
]

function lists(workspaceId: string): string[] {
  const names = ['workflows', 'workflows/folders', 'secrets', 'credentials', 'workspaces']
  return [
    ...names.map((name) => `/api/v2/${name}?workspaceId=${workspaceId}`),
    `/api/v2/workspaces/${workspaceId}/members?`,
    `/api/v1/workflows?workspaceId=${workspaceId}`,
  ]
}

/** A file of 1.5 MB whose values are counted only when its text is read. */
function fileAsText(workspaceId: string): string {
  const code = `return [${'0,'.repeat(700_000)}0]`
  const start = { id: 's', type: 'start_trigger', name: 'Start', subBlocks: {} }
  const run = { id: 'f', type: 'function', name: 'Run', subBlocks: { code: { id: 'code', type: 'code', value: code } } }
  const edges = [{ id: 'e', source: 's', target: 'f' }]
  const workflow = JSON.stringify({ state: { blocks: { s: start, f: run }, edges } })
  return JSON.stringify({ workspaceId, name: 'From a text', workflow })
}
