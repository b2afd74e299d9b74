/** The address of the editor that opens with a run of the log. */
export function editorAddress(workflowId: string, executionId: string): string {
  return `/workflows/${workflowId}?${name}=${executionId}`
}

/** The same address, at which the assistant explains why the run failed. */
export function explainAddress(workflowId: string, executionId: string): string {
  return `${editorAddress(workflowId, executionId)}&${explain}`
}

/** Whether an address requests an explanation of the run that it names. */
export function asksForExplanation(search: string): boolean {
  return new URLSearchParams(search).has(explain)
}

/** The run that an address of the editor names. */
export function namedRun(search: string): string | undefined {
  return new URLSearchParams(search).get(name) ?? undefined
}

const name = 'run'
const explain = 'explain'
