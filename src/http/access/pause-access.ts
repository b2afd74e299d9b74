import type { Role } from '../../domain/account/role.ts'
import { AppError } from '../../domain/errors.ts'
import type { PauseContent } from '../../domain/run/pause.ts'

/** Whether an account may answer a pause. Viewers may not, unless the pause names them: an answer has effects. */
export function mayAnswer(
  { role, email }: { role: Role | undefined; email: string },
  { access, accounts }: Pick<PauseContent, 'access' | 'accounts'>,
): boolean {
  return access === 'accounts' ? accounts.includes(email) : role !== undefined && role !== 'viewer'
}

/** Throws FORBIDDEN for an account that may not answer a pause. */
export function assertMayAnswer(who: Parameters<typeof mayAnswer>[0], content: Parameters<typeof mayAnswer>[1]): void {
  if (mayAnswer(who, content)) return
  throw new AppError('FORBIDDEN', 'Your account may not answer this run. Ask the people who built the workflow.')
}
