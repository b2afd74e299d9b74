import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { millrace } from '../../test/support/executable.ts'
import { serve } from '../../test/support/running-service.ts'
import { launch } from '../../test/support/ui/browser.ts'
import { seed, seededIn } from '../support/logs-seed.ts'

/**
 * The log screen with many entries: `bun bench/screens/log-screen.ts [folder made by bench/logs.ts seed]`. Scrolls as
 * fast as pages arrive, and reports frame times and the tasks that blocked the page for more than 50 ms.
 */
const place = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const given = process.argv[2]
const { directory } = given ? await seededIn(given) : await seed(join(place, 'data'), 1_000_000, 0.02)
const { out } = await millrace(['users', 'link', 'owner@localhost'], { environment: { MILLRACE_DATA: directory } })
const service = await serve(directory)
const browser = await launch()
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(`${service.url}/sign-in?token=${/token=(\S+)/.exec(out)?.[1]}`)
  await page.getByRole('button', { name: /^Account/ }).waitFor()
  const address = await page.evaluate(() => location.pathname.split('/')[2])
  const workspace = address && page.url().includes('/w/') ? address : await page.evaluate(workspaceOf)
  const startedAt = performance.now()
  await page.goto(`${service.url}/w/${workspace}/logs?range=all`)
  await page.getByRole('row').nth(20).waitFor()
  const openedMs = performance.now() - startedAt
  await page.getByText(/runs/).first().waitFor()
  const countedMs = performance.now() - startedAt
  const { frames, long, rows } = await page.evaluate(scroll, 15_000)
  const sorted = frames.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(1)
  console.log(`rows in sight after ${openedMs.toFixed(0)} ms, counts of all after ${countedMs.toFixed(0)} ms`)
  console.log(
    `${rows} rows scrolled in 15 s; frames p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms; ` +
      `${long.length} tasks over 50 ms, longest ${Math.max(0, ...long).toFixed(0)} ms`,
  )
} finally {
  await browser.close()
  await service.kill('SIGTERM')
  rmSync(place, { recursive: true })
}

async function workspaceOf(): Promise<string> {
  const response = await fetch('/api/editor/me')
  return ((await response.json()) as { workspaces: { id: string }[] }).workspaces[0]!.id
}

/** Runs in the page, like a user who scrolls without pause. */
async function scroll(forMs: number): Promise<{ frames: number[]; long: number[]; rows: number }> {
  const grid = document.querySelector('[role=grid]')!
  const long: number[] = []
  const observer = new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration)))
  observer.observe({ type: 'longtask' })
  const frames: number[] = []
  const startedAt = performance.now()
  let before = startedAt
  while (before - startedAt < forMs) {
    await new Promise(requestAnimationFrame)
    const now = performance.now()
    frames.push(now - before)
    before = now
    grid.scrollTop += 360
  }
  return { frames, long, rows: Math.round(grid.scrollTop / 36) }
}
