import { call } from '../../api/call.ts'
import { saveJson } from '../../parts/save-json.ts'

/** Downloads a workflow document, in the form that the import and `millrace workflows push` accept. */
export async function exportWorkflow(id: string, { pins = false } = {}): Promise<void> {
  const workflow = await call('GET /api/workflows/:id', { params: { id } })
  const document: Record<string, unknown> = Object.fromEntries(
    Object.entries(workflow).filter(([name]) => !ownMembers.has(name)),
  )
  if (pins) {
    const { data } = await call('GET /api/workflows/:id/pins', { params: { id } })
    document['mocks'] = data.map(({ blockId, output }) => ({ block: blockId, output }))
  }
  saveJson(`${fileNameOf(workflow.name)}.json`, document)
}

/** Members that the service adds to a document. */
const ownMembers: ReadonlySet<string> = new Set([
  'workspaceId',
  'createdAt',
  'updatedAt',
  'updatedBy',
  'revision',
  'isDeployed',
])

function fileNameOf(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^\p{Letter}\p{Number}]+/gu, '-')
  return plain.replaceAll(/^-|-$/g, '').slice(0, 80) || 'workflow'
}
