import { isDeepStrictEqual } from 'node:util'
import type { WorkflowTest } from '../../../domain/workflow/workflow-test.ts'
import { type Client, pathOf } from '../client.ts'

type Undo = { what: string; run(): Promise<unknown> }

/** The tests of a workflow on the service. */
export async function readTests(client: Client, id: string): Promise<WorkflowTest[]> {
  return (await client.get<{ tests: WorkflowTest[] }>(pathOf`/api/workflows/${id}/tests`)).tests
}

/** Replaces the tests of a saved workflow. Undefined: it has no test file, and its tests stay. */
export async function writeTests(
  client: Client,
  id: string,
  tests: readonly WorkflowTest[] | undefined,
  undo: Undo[],
): Promise<void> {
  if (tests === undefined) return
  const before = await readTests(client, id)
  if (isDeepStrictEqual(before, tests)) return
  const path = pathOf`/api/workflows/${id}/tests`
  await client.put(path, { tests })
  undo.push({ what: `put back the tests of ${id}`, run: () => client.put(path, { tests: before }) })
}
