import type { Page } from 'playwright-core'

/** Fills in a reason, an account and a switch, and approves. The reason has the focus. */
export async function approveByKeyboard({ keyboard }: Page): Promise<void> {
  await keyboard.type('Within the budget')
  await keyboard.press('Tab')
  await keyboard.type('Office')
  await keyboard.press('Tab')
  await keyboard.press('Space')
  await keyboard.press('Tab')
  await keyboard.press('Enter')
}
