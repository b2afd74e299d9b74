/** The address of the editor that opens with a run of the log. */
export function editorAddress(workflowId: string, executionId: string): string {
  return `/workflows/${workflowId}?${name}=${executionId}`
}

/** The run that an address of the editor names. */
export function namedRun(search: string): string | undefined {
  return new URLSearchParams(search).get(name) ?? undefined
}

const name = 'run'
