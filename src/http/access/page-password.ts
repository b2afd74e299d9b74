import type { AccountLimits } from '../../accounts/limits.ts'
import type { Environment } from '../../domain/account/environment.ts'
import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { headerTexts } from '../../triggers/header-texts.ts'
import { isPassword } from '../../triggers/page-password.ts'
import { assertAllowed } from './rate-headers.ts'

export type PasswordServices = {
  clock: Clock
  environmentOf(workspaceId: string): Environment | Promise<Environment>
  limits: Pick<AccountLimits, 'takeWrongPassword' | 'peekWrongPassword'>
  logger: Pick<Logger, 'error'>
}

/** `visitor`: the network that the request comes from. `password`: the trigger's setting. */
export type PasswordCall = {
  request: Request
  workflowId: string
  workspaceId: string
  visitor: string
  kind: 'chat' | 'form'
  header: string
  password: string
}

/** Throws INVALID_CREDENTIALS unless the caller sends the password of the chat or form. Limits guesses. */
export async function assertPassword(
  { clock, environmentOf, limits, logger }: PasswordServices,
  { request, workflowId, workspaceId, visitor, kind, header, password }: PasswordCall,
): Promise<void> {
  const { values } = await environmentOf(workspaceId)
  // Nothing is awaited from here on: otherwise parallel guesses would all be checked before one is counted.
  const who = `${kind} ${workflowId} ${visitor}`
  assertAllowed(limits.peekWrongPassword(who), clock.now(), 'wrong passwords')
  const given = request.headers.get(header)
  if (given === null || given === '') {
    throw new AppError('INVALID_CREDENTIALS', `This ${kind} needs a password: send it in the header ${header}.`)
  }
  const isRight = textsOf(given).map((text) => isPassword(text, password, values))
  if (isRight.includes(true)) return
  limits.takeWrongPassword(who)
  if (isRight.includes(undefined)) {
    logger.error(`a ${kind} refuses all callers: the environment variable of its password is not set`, { workflowId })
  }
  throw new AppError('INVALID_CREDENTIALS', 'The password is wrong.')
}

/**
 * Browsers cannot send characters beyond Latin-1 in a header, so the page percent-encodes the password. Programs send
 * it as is.
 */
function textsOf(header: string): string[] {
  try {
    return [...headerTexts(header), decodeURIComponent(header)]
  } catch {
    return headerTexts(header)
  }
}
