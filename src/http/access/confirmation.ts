import { AppError } from '../../domain/errors.ts'
import type { UserRow } from '../../store/account-store.ts'
import type { Services } from '../services.ts'
import { addressOf, type ServerPort } from './connection.ts'
import { tokenOf } from './session-cookie.ts'

/** The maximum age of a sign-in that confirms a change of an account without a password. */
const recentMs = 10 * 60_000

type Confirmation = {
  userId: string
  currentPassword: string | undefined
  request: Request
  server: Pick<ServerPort, 'requestIP'> | null
}

/**
 * Requires the account's password, if it has one, for a change that needs more than a session: otherwise someone who
 * finds an open browser could take the account.
 */
export async function assertCurrentPassword(
  services: Pick<Services, 'store' | 'sessions'>,
  { userId, currentPassword, request, server }: Confirmation,
): Promise<void> {
  if (!(await findAccount(services, userId)).hasPassword) return
  if (currentPassword === undefined) throw currentPasswordNeeded()
  const address = addressOf(request, server)
  await services.sessions.assertPassword({ userId, password: currentPassword, address })
}

/**
 * Requires the account's password, or a recent sign-in if the account has none. For changes whose effect outlives the
 * session and a change of the password. Where sign-in is off, everyone is the owner, so there is nothing to confirm.
 */
export async function assertConfirmed(
  services: Pick<Services, 'store' | 'sessions' | 'clock'>,
  confirmation: Confirmation,
): Promise<void> {
  const { sessions, clock } = services
  if (sessions.isOpen) return
  const { hasPassword, email } = await findAccount(services, confirmation.userId)
  if (hasPassword) return await assertCurrentPassword(services, confirmation)
  const token = tokenOf(confirmation.request.headers)
  const session = token === undefined ? undefined : await sessions.find(token)
  if (session && clock.now() - session.createdAt <= recentMs) return
  throw new AppError(
    'FORBIDDEN',
    'The account has no password, so this change needs a sign-in that is at most 10 minutes old. Open a new sign-in ' +
      `link. The administrator creates it with: millrace users link ${email}`,
  )
}

/** Throws SIGN_IN_REQUIRED when the account was deleted. */
export async function findAccount({ store }: Pick<Services, 'store'>, userId: string): Promise<UserRow> {
  const user = await store.findUser(userId)
  if (user) return user
  throw new AppError('SIGN_IN_REQUIRED', 'The account of this session no longer exists. Sign in with another account.')
}

function currentPasswordNeeded(): AppError {
  const message = 'The account has a password. Send it as currentPassword.'
  return new AppError('INVALID_INPUT', message, { details: [{ path: 'currentPassword', message }] })
}
