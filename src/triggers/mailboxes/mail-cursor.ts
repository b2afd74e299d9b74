import { isObject } from '../../domain/run/input.ts'

/** The last message that a trigger has taken. With another `uidValidity`, UIDs name other messages. */
export type MailCursor = { uidValidity: string; uid: number }

export function cursorOf(state: string | null): MailCursor | undefined {
  if (state === null) return undefined
  try {
    const value: unknown = JSON.parse(state)
    const { uidValidity, uid } = isObject(value) ? value : {}
    const isCursor = typeof uidValidity === 'string' && Number.isSafeInteger(uid) && (uid as number) >= 0
    return isCursor ? { uidValidity, uid: uid as number } : undefined
  } catch {
    return undefined
  }
}

export function stateOf({ uidValidity, uid }: MailCursor): string {
  return JSON.stringify({ uidValidity, uid })
}
