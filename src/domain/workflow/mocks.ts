/** The pinned output of a block in the file of a workflow. `block`: its ID. */
export type Mock = { block: string; output: Record<string, unknown> }

/**
 * Takes the member `mocks` out of the file of a workflow, which the document itself does not have. `problem`: why it
 * cannot be read.
 */
export function splitMocks(value: unknown): { document: unknown; mocks: Mock[]; problem?: string } {
  if (!isRecord(value) || !Object.hasOwn(value, 'mocks')) return { document: value, mocks: [] }
  const { mocks, ...document } = value
  if (Array.isArray(mocks) && mocks.every(isMock)) return { document, mocks }
  return { document, mocks: [], problem: 'mocks must be a list of { "block", "output" }, with an object as output.' }
}

function isMock(value: unknown): value is Mock {
  return isRecord(value) && typeof value['block'] === 'string' && isRecord(value['output'])
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
