import { alertBounds } from '../../domain/alert/alert.ts'
import { AppError } from '../../domain/errors.ts'

export function unknownAlert(): AppError {
  return new AppError('NOT_FOUND', 'The workspace has no such alert.')
}

export function tooManyAlerts(): AppError {
  const { perWorkspaceMax } = alertBounds
  return new AppError(
    'INVALID_INPUT',
    `A workspace can have at most ${perWorkspaceMax} alerts. Delete one that you no longer need.`,
  )
}

export function unknownAlertWorkflow(id: string): AppError {
  return new AppError('INVALID_INPUT', `\`workflows\` names "${id}", but the workspace has no such workflow.`)
}
