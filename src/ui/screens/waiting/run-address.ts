/** The address of a run that has not ended. */
export function runAddress(
  workspaceId: string,
  executionId: string,
  status: 'queued' | 'processing' | 'paused',
): string {
  return `/w/${workspaceId}/waiting?view=runs&status=${status}&run=${encodeURIComponent(executionId)}`
}

export function pauseAddress(workspaceId: string, contextId: string): string {
  return `/w/${workspaceId}/waiting?pause=${encodeURIComponent(contextId)}`
}
