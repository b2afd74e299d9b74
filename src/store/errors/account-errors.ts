import { environmentBounds } from '../../domain/account/environment.ts'
import { AppError } from '../../domain/errors.ts'

// Refusals of every store about accounts and workspaces.

export function unknownAccount(userId: string): AppError {
  return new AppError('NOT_FOUND', `There is no account ${userId}`)
}

export function unknownWorkspace(workspaceId: string): AppError {
  return new AppError('NOT_FOUND', `There is no workspace ${workspaceId}`)
}

/** For a key of a workspace. */
export function notMember(workspaceId: string): AppError {
  return new AppError('NOT_FOUND', `This account is not a member of a workspace ${workspaceId}`)
}

export function unknownClient(): AppError {
  return new AppError('NOT_FOUND', 'This application is no longer registered here. Connect it again.')
}

export function emailTaken(email: string): AppError {
  return new AppError('CONFLICT', `The e-mail address ${email} already belongs to another account. Choose another one.`)
}

/** A workspace always keeps its owner, who is responsible for it and pays for it. */
export function ownerKeepsRole(workspaceId: string): AppError {
  return new AppError(
    'CONFLICT',
    `This account owns the workspace ${workspaceId}. The role of the owner cannot be changed.`,
  )
}

export function passwordChanged(): AppError {
  return new AppError('INVALID_CREDENTIALS', 'The password has changed in the meantime. Sign in with the new one.')
}

/** `bytes`: of the encrypted variables, together. */
export function assertEnvironmentFits({ count, bytes }: { count: number; bytes: number }): void {
  const { variablesMax, bytesMax } = environmentBounds
  if (count > variablesMax) {
    throw new AppError('INVALID_INPUT', `A workspace can have at most ${variablesMax} variables. Delete one first.`)
  }
  if (bytes > bytesMax) {
    throw new AppError(
      'INVALID_INPUT',
      `A workspace can have at most ${bytesMax} bytes of encrypted variables. With this one it would have ${bytes}.`,
    )
  }
}
