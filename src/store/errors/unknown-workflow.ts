import { AppError } from '../../domain/errors.ts'
import type { LogRow } from '../../domain/run/log.ts'

/** For a run or job whose workflow never existed in its workspace. */
export function unknownWorkflow({ workflowId, workspaceId }: Pick<LogRow, 'workflowId' | 'workspaceId'>): AppError {
  return new AppError('NOT_FOUND', `There is no workflow ${workflowId} in workspace ${workspaceId}`)
}
