import { credentialBounds } from '../../domain/credential/credential.ts'
import { AppError } from '../../domain/errors.ts'

export function credentialNameTaken(name: string): AppError {
  return new AppError('CONFLICT', `The workspace already has a credential "${name}". Choose another name.`)
}

export function unknownCredential(): AppError {
  return new AppError('NOT_FOUND', 'There is no such credential.')
}

export function tooManyCredentials(): AppError {
  const { perWorkspaceMax } = credentialBounds
  return new AppError(
    'INVALID_INPUT',
    `A workspace can have at most ${perWorkspaceMax} credentials. Delete one that you no longer need.`,
  )
}
