import axe from 'axe-core'
import type { Page } from 'playwright-core'

/**
 * Serious and critical `axe-core` findings, one line each. Looks up to three times, so that passing animations are not
 * reported.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  let faults = await faultsNow(page)
  for (let looks = 1; faults.length > 0 && looks < 3; looks += 1) faults = await faultsNow(page)
  return faults
}

/** The serious findings in both themes. */
export async function faultsInBothThemes(page: Page): Promise<string[]> {
  const faults: string[] = []
  for (const theme of ['light', 'dark']) {
    await page.evaluate((wanted) => {
      document.documentElement.dataset['theme'] = wanted
    }, theme)
    faults.push(...(await accessibilityFaults(page)).map((fault) => `${theme}: ${fault}`))
  }
  return faults
}

async function faultsNow(page: Page): Promise<string[]> {
  // Wait for fade-ins to end: half-transparent text has too little contrast. Looks again and again, for a bounded time,
  // because Chromium does not always end an animation or settle its promise `finished`.
  await page.evaluate(async () => {
    const isMoving = () =>
      document
        .getAnimations()
        .some(({ effect, playState }) => playState === 'running' && effect?.getComputedTiming().iterations === 1)
    for (let looks = 0; looks < 100 && isMoving(); looks += 1) await new Promise((resolve) => setTimeout(resolve, 20))
  })
  // Evaluated through the debugger, to which the page's policy does not apply.
  await page.evaluate(axe.source)
  const violations = await page.evaluate(async () => {
    const { run } = (globalThis as unknown as { axe: { run(context: unknown, options: unknown): Promise<unknown> } })
      .axe
    // Menus and dialogs have hidden guards that lead the focus back into them at once.
    const context = { exclude: [['[data-base-ui-focus-guard]']] }
    const found = (await run(context, { resultTypes: ['violations'] })) as {
      violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[]
    }
    return found.violations
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
}
