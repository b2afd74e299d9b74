import type { Mock } from '../../domain/workflow/mocks.ts'
import { type Client, pathOf } from './client.ts'

type Undo = { what: string; run(): Promise<unknown> }

/** The pinned outputs of a workflow. */
export async function readPins(client: Client, id: string): Promise<Mock[]> {
  const { data } = await client.get<{ data: { blockId: string; output: Mock['output'] }[] }>(
    pathOf`/api/workflows/${id}/pins`,
  )
  return data.map(({ blockId, output }) => ({ block: blockId, output }))
}

/** Pins outputs to the blocks of a saved workflow. Other pins stay. */
export async function writePins(client: Client, id: string, mocks: readonly Mock[], undo: Undo[]): Promise<void> {
  if (mocks.length === 0) return
  const before = new Map((await readPins(client, id)).map(({ block, output }) => [block, output]))
  for (const { block, output } of mocks) {
    const path = pathOf`/api/workflows/${id}/pins/${block}`
    await client.put(path, { output })
    const earlier = before.get(block)
    const run = () => (earlier ? client.put(path, { output: earlier }) : client.delete(path))
    undo.push({ what: `put back the pinned output of ${block} in ${id}`, run })
  }
}
