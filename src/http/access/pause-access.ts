import type { Role } from '../../domain/account/role.ts'
import type { PauseContent } from '../../domain/run/pause.ts'

/** Whether an account may answer a pause. Viewers may not, unless the pause names them: an answer has effects. */
export function mayAnswer(
  { role, email }: { role: Role | undefined; email: string },
  { access, accounts }: Pick<PauseContent, 'access' | 'accounts'>,
): boolean {
  return access === 'accounts' ? accounts.includes(email) : role !== undefined && role !== 'viewer'
}
