import type { CDPSession, Page } from 'playwright-core'
import { deploy } from '../../test/support/running-service.ts'
import { type Visit, visit } from '../../test/support/ui/browser.ts'

/**
 * `bun bench/screens/editor-hour.ts [minutes] [pause]`: somebody uses the editor for an hour, in one page that is never
 * loaded anew. A round opens a workflow, looks into blocks, edits and takes it back, runs, deploys, looks at the log,
 * at webhooks and settings, and at another workflow; the log holds 300 runs from before. `pause` is how many
 * milliseconds pass between two steps of it, 700 unless told. Printed at each tenth of the time: the heap, nodes and
 * listeners of the page when garbage has been collected, and the memory of its process.
 */
async function bench(): Promise<void> {
  const minutes = Number(process.argv[2] ?? 60)
  const pause = Number(process.argv[3] ?? 700)
  const visited = await visit()
  try {
    const call = await deploy(visited.serving.url, visited.apiKey, looped)
    // A log that fills its first page and the next: the runs of an hour would lengthen an empty one, which is not a
    // leak.
    for (let runs = 0; runs < 300; runs += 1) await execute(call, visited.apiKey)
    const user = new User(visited.page, pause)
    const meter = await Meter.on(visited)
    await forgetResponses(visited.page)
    await user.begin(visited.serving.url)
    // Code is compiled as it is used, the more the oftener, and answers are kept for some minutes: most of both is
    // there now.
    const beginner = new User(visited.page, Math.min(pause, 30))
    for (let at = 0; at < 30; at += 1) await beginner.round(at)
    const marks = [await meter.read()]
    print(0, 0, marks[0]!)
    const startedAt = performance.now()
    let rounds = 0
    for (let tenth = 1; tenth <= 10; tenth += 1) {
      while (performance.now() - startedAt < (tenth / 10) * minutes * 60_000) {
        await user.round(rounds)
        rounds += 1
      }
      const mark = await meter.read()
      marks.push(mark)
      print((performance.now() - startedAt) / 60_000, rounds, mark)
    }
    const [first, last] = [marks[0]!, marks.at(-1)!]
    const growth = (part: keyof Mark) => `${part} ${((last[part] / first[part] - 1) * 100).toFixed(1)} %`
    console.log(`${rounds} rounds in ${minutes} min: ${(Object.keys(first) as (keyof Mark)[]).map(growth).join(', ')}`)
    for (const error of visited.pageErrors) console.log(error)
  } finally {
    await visited.close()
  }
}

/**
 * The inspector by which the page is led keeps every answer that the page gets, in the page's own process: half a
 * megabyte a round, which no user's browser has. It is told to keep none; its own connection to do so has no public
 * name.
 */
async function forgetResponses(page: Page): Promise<void> {
  type Led = { delegate: { _mainFrameSession: { _client: Pick<CDPSession, 'send'> } } }
  const { _connection } = page as unknown as { _connection: { toImpl(page: Page): Led } }
  const inspector = _connection.toImpl(page).delegate._mainFrameSession._client
  await inspector.send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 })
}

async function execute(url: string, apiKey: string): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers: { 'x-api-key': apiKey }, body: '{}' })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
}

type Mark = { heap: number; nodes: number; listeners: number; process: number }

function print(minutes: number, rounds: number, { heap, nodes, listeners, process: resident }: Mark): void {
  const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MB`
  console.log(
    `${minutes.toFixed(1)} min, ${rounds} rounds: heap ${megabytes(heap)}, ${nodes} nodes, ${listeners} listeners, process ${megabytes(resident)}`,
  )
}

/** The memory and objects of a page. */
class Meter {
  readonly #session: CDPSession
  readonly #pid: number

  private constructor(session: CDPSession, pid: number) {
    this.#session = session
    this.#pid = pid
  }

  static async on({ page, browser }: Visit): Promise<Meter> {
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable')
    const whole = await browser.newBrowserCDPSession()
    const { processInfo } = await whole.send('SystemInfo.getProcessInfo')
    // The one that has worked most: the page's. Others stand by for the next page.
    const [own] = processInfo.filter(({ type }) => type === 'renderer').toSorted((a, b) => b.cpuTime - a.cpuTime)
    return new Meter(session, own?.id ?? 0)
  }

  async read(): Promise<Mark> {
    for (let times = 0; times < 3; times += 1) await this.#session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await this.#session.send('Runtime.getHeapUsage')
    const { metrics } = await this.#session.send('Performance.getMetrics')
    const metric = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? 0
    const status = await Bun.file(`/proc/${this.#pid}/status`).text()
    const resident = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024
    return { heap: usedSize, nodes: metric('Nodes'), listeners: metric('JSEventListeners'), process: resident }
  }
}

/** Somebody at work. Goes from screen to screen by links and keys, as the page stays one page that way. */
class User {
  readonly #page: Page
  readonly #pause: number

  constructor(page: Page, pause: number) {
    this.#page = page
    this.#pause = pause
  }

  async begin(url: string): Promise<void> {
    // It may run beside work that takes the processors.
    this.#page.setDefaultTimeout(300_000)
    await this.#page.goto(url)
    await this.#page.getByRole('link', { name: 'Workflows' }).first().click()
  }

  async round(number: number): Promise<void> {
    await this.#open('First workflow')
    await this.#look('Pick')
    await this.#edit(number)
    await this.#run()
    await this.#deploy()
    await this.#press('Escape')
    await this.#visit('Logs')
    await this.#page.getByRole('grid', { name: 'Log entries' }).getByRole('row').nth(1).click()
    await this.#page.getByRole('complementary', { name: 'Log entry' }).getByRole('button', { name: 'Close' }).click()
    await this.#rest()
    await this.#visit('Settings')
    await this.#page.getByRole('heading', { level: 1 }).waitFor()
    await this.#visit('Workflows')
    await this.#open('Rounds')
    await this.#run()
    await this.#visit('Workflows')
  }

  async #open(name: string): Promise<void> {
    await this.#page.getByRole('link', { name, exact: true }).first().click()
    await this.#page.locator('.react-flow__node').first().waitFor()
    await this.#rest()
  }

  async #look(block: string): Promise<void> {
    await this.#page.locator('.react-flow__node', { hasText: block }).first().click()
    await this.#page.locator('.cm-content').first().waitFor()
    await this.#rest()
  }

  /** Types into code, adds a note and a block, moves it, and takes all of it back. */
  async #edit(number: number): Promise<void> {
    await this.#page.locator('.cm-content').first().click()
    await this.#page.keyboard.press('Control+End')
    await this.#page.keyboard.type(` // ${number}`)
    await this.#press('Control+z')
    await this.#press('Escape')
    await this.#press('Escape')
    await this.#press('n')
    await this.#page.keyboard.type('A note')
    await this.#press('Escape')
    await this.#press('/')
    await this.#page.getByRole('combobox', { name: 'Blocks' }).fill('wait')
    await this.#press('Enter')
    const added = this.#page.locator('.react-flow__node', { hasText: 'Wait' }).first()
    const box = (await added.boundingBox())!
    await this.#page.mouse.move(box.x + 60, box.y + 12)
    await this.#page.mouse.down()
    await this.#page.mouse.move(box.x + 90, box.y + 80, { steps: 6 })
    await this.#page.mouse.up()
    for (let times = 0; times < 4; times += 1) await this.#press('Control+z')
    await added.waitFor({ state: 'detached' })
    await this.#page.getByRole('status').getByText('Saved', { exact: true }).waitFor()
  }

  async #run(): Promise<void> {
    await this.#press('Control+Enter')
    await this.#page.getByText(/Succeeded in/).waitFor()
    await this.#rest()
  }

  /** Looks at what would be deployed, at the versions and at the calls, and leaves it at that. */
  async #deploy(): Promise<void> {
    await this.#page.getByRole('button', { name: 'Deploy', exact: true }).click()
    const dialog = this.#page.getByRole('dialog')
    for (const tab of ['Versions', 'Entry points']) {
      await dialog.getByRole('tab', { name: tab }).click()
      await this.#rest()
    }
    await this.#press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }

  async #visit(screen: string): Promise<void> {
    await this.#page.getByRole('navigation').getByRole('link', { name: screen }).first().click()
    await this.#rest()
  }

  async #press(key: string): Promise<void> {
    await this.#page.keyboard.press(key)
    await this.#rest()
  }

  async #rest(): Promise<void> {
    await this.#page.waitForTimeout(this.#pause)
  }
}

/** A loop of ten passes, each a block: what a run leaves in the console is longer here. */
const looped = {
  name: 'Rounds',
  blocks: {
    start: { type: 'api_trigger', name: 'Start', position: { x: 0, y: 0 } },
    loop: { type: 'loop', name: 'Loop', position: { x: 320, y: 0 } },
    step: {
      ...{ type: 'function', name: 'Step', parentId: 'loop', position: { x: 140, y: 70 } },
      params: { code: 'return { pass: <loop.index>, words: "x".repeat(2000) }' },
    },
  },
  edges: [
    { source: 'start', target: 'loop' },
    { source: 'loop', target: 'step' },
  ],
  loops: { loop: { id: 'loop', nodes: ['step'], loopType: 'for', iterations: 10 } },
}

await bench()
