import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { deployAndCall, emptyWorkflow, node, port, saved, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

const code = `const quotes = <quotes.data.data>
return { greeting: 'Hello, ' + <api.name> + '.', quote: quotes[0] ?? null }`

describe('building the sample from an empty workflow', () => {
  let visited: Visit
  beforeAll(async () => {
    visited = await visit()
  }, 120_000)
  afterAll(() => visited.close())

  test('works by mouse: the workflow runs, deploys, and the displayed curl command gets its response', async () => {
    const { page, serving, pageErrors } = visited
    const id = await emptyWorkflow(visited, 'By mouse')
    const pane = page.locator('.react-flow__pane')
    const inspector = page.getByRole('complementary', { name: /^Block / })
    const box = (await pane.boundingBox())!
    const at = (x: number, y: number) => ({ x: box.x + x, y: box.y + y })

    await page
      .getByRole('complementary', { name: 'Blocks' })
      .getByRole('button', { name: 'API trigger' })
      .dragTo(pane, { targetPosition: { x: 160, y: 300 } })
    for (const [index, [name, value]] of [
      ['name', 'you'],
      ['tag', 'work'],
    ].entries()) {
      await inspector.getByRole('button', { name: 'Add field' }).click()
      await inspector.getByLabel(`Name of field ${index + 1}`).fill(name!)
      await inspector.getByLabel(`Value of field ${index + 1} for manual runs`).fill(value!)
    }
    /** Drags a line from an output port to the empty canvas and picks a block from the list. */
    const pull = async (name: string, handle: string, to: { x: number; y: number }, choice: string) => {
      const from = (await port(page, name, handle).boundingBox())!
      await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2)
      await page.mouse.down()
      await page.mouse.move(to.x - 20, to.y - 10, { steps: 4 })
      await page.mouse.move(to.x, to.y, { steps: 4 })
      await page.mouse.up()
      await page.getByRole('option', { name: choice }).first().click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    const rename = async (name: string) => {
      const field = inspector.getByLabel('Block name')
      await field.fill(name)
      await field.press('Enter')
      await node(page, name).waitFor()
    }
    /** Types as a person would. Playwright's `fill` leaves inline styles, which the page's policy refuses. */
    const write = async (label: string, text: string) => {
      await inspector.locator('.cm-content', { hasText: '' }).and(inspector.getByLabel(label)).click()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText(text)
    }
    await pull('Start', 'source', at(420, 60), 'API')
    await rename('Quotes')
    await inspector.getByLabel('URL').fill(`${serving.url}/sample/quotes`)
    const parameters = inspector.getByRole('group', { name: 'Query parameters' })
    await parameters.getByRole('button', { name: 'Add' }).click()
    await parameters.getByLabel('Name 1').fill('tag')
    await parameters.getByLabel('Value 1').pressSequentially('<start.ta')
    await page.getByRole('option', { name: '<start.tag>' }).click()

    await pull('Quotes', 'source', at(460, 420), 'Function')
    await rename('Pick')
    await write('Code', code)

    await pull('Pick', 'source', at(120, 560), 'Condition')
    await rename('Found')
    await inspector.getByLabel('Expression 1').fill('<pick.result.quote> !== null')
    await page.getByRole('button', { name: 'Tidy up' }).click()
    await page.getByRole('button', { name: 'Hide blocks' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Fit to view' }).click()
    // Clicking an output port offers the next block too.
    await port(page, 'Found', 'condition-yes').click()
    await page.getByRole('option', { name: /^Response/ }).click()
    await rename('Answer')
    await write('Data', '{ "message": "<pick.result.greeting>", "by": "<pick.result.quote.author>" }')
    await port(page, 'Found', 'condition-else').click()
    await page.getByRole('option', { name: /^Response/ }).click()
    await rename('Nothing found')
    await inspector.getByLabel('Status').fill('404')

    const workflow = await saved(visited, id)
    const names = Object.fromEntries(Object.values(workflow.blocks).map((block) => [block.id, block.name]))
    expect(
      workflow.edges.map(({ source, sourceHandle, target }) => `${names[source]} ${sourceHandle} ${names[target]}`),
    ).toEqual([
      'Start source Quotes',
      'Quotes source Pick',
      'Pick source Found',
      'Found condition-yes Answer',
      'Found condition-else Nothing found',
    ])
    await page.getByTitle('Run the draft (Ctrl+Enter)').click()
    await page.getByText(/Succeeded in/).waitFor()
    await page.getByRole('region', { name: 'Output' }).getByText('"Hello, you."').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await deployAndCall(visited)).toEqual({ message: 'Hello, you.', by: 'Aristotle' })
    expect(pageErrors).toEqual([])
  }, 120_000)

  test('works by keyboard alone', async () => {
    const { page, serving } = visited
    const id = await emptyWorkflow(visited, 'By keyboard')
    const keys = async (...all: string[]) => {
      for (const key of all) await page.keyboard.press(key)
    }
    const focused = (name: string) =>
      until(() =>
        page.evaluate((wanted) => {
          let at = document.activeElement
          while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
          const label =
            at?.getAttribute('aria-label') ??
            (at as HTMLInputElement | null)?.labels?.[0]?.textContent ??
            at?.textContent ??
            ''
          return label.startsWith(wanted)
        }, name),
      )
    const onNode = () => page.evaluate(() => document.activeElement?.classList.contains('react-flow__node') === true)
    /** Returns to the canvas. The first Escape may close a list of completions. */
    const leave = () =>
      until(async () => {
        if (await onNode()) return true
        await keys('Escape')
        return await onNode()
      })
    /** Adds a block after the selected one and focuses its first field. */
    const add = async (choice: string) => {
      await keys('/')
      await page.getByRole('combobox', { name: 'Blocks' }).waitFor()
      await page.keyboard.type(choice)
      await keys('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await until(onNode)
      await keys('Enter')
    }
    await add('api trigger')
    await focused('Add field')
    await keys('Enter')
    await focused('Name of field 1')
    await page.keyboard.type('name')
    await keys('Tab', 'Tab')
    await focused('Value of field 1')
    await page.keyboard.type('you')
    await leave()
    await add('send http')
    await focused('URL')
    await page.keyboard.type(`${serving.url}/sample/quotes`)
    await leave()
    await add('function')
    await focused('Code')
    await keys('Control+a')
    await page.keyboard.type("return <api.name> + ': ' + <request.data.data[0].author>")
    await leave()
    await add('response')
    await focused('Data')
    await keys('Control+a')
    await page.keyboard.type('"<function.result>"')
    await leave()
    await keys('Control+Enter')
    await page.getByText(/Succeeded in/).waitFor()
    await page.getByRole('region', { name: 'Output' }).getByText('you: Benjamin Franklin').waitFor()

    // Walk along the connections and delete a block: its neighbours stay connected. Then undo.
    await keys('Escape', 'Alt+ArrowRight', 'Alt+ArrowRight')
    await page.getByRole('complementary', { name: 'Block Request' }).waitFor()
    // Blocks out of view are not drawn, so the stored ones are counted.
    const count = async () => Object.keys((await saved(visited, id)).blocks).length
    await keys('Delete')
    await until(async () => (await count()) === 3)
    await keys('Control+z')
    await until(async () => (await count()) === 4)
    const workflow = await saved(visited, id)
    expect(Object.values(workflow.blocks).map(({ type }) => type)).toEqual([
      'api_trigger',
      'api',
      'function',
      'response',
    ])
    expect(workflow.edges.length).toBe(3)
  }, 120_000)
})
