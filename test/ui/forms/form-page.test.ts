// Long because all of these tests need the same page.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileChooser, Page } from 'playwright-core'
import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { listen, type Visit, visit } from '../../support/ui/browser.ts'
import { until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults, faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit({ environment: { MILLRACE_FORM_VISITOR_PER_MINUTE: '1000' } })
}, 120_000)
afterAll(() => visited.close())

const fields = [
  { name: 'name', type: 'string', label: 'Your name', required: true },
  { name: 'mail', type: 'string', format: 'email', label: 'E-mail' },
  { name: 'day', type: 'string', format: 'date', label: 'Day' },
  { name: 'guests', type: 'number', label: 'Guests' },
  { name: 'meal', type: 'string', label: 'Meal', options: ['Soup', 'Rice'] },
  { name: 'days', type: 'array', label: 'Days', options: ['Monday', 'Tuesday'], description: 'Choose some.' },
  { name: 'vegan', type: 'boolean', label: 'Vegan' },
  { name: 'wish', type: 'string', format: 'long', label: 'Wishes' },
]

type Blocks = Parameters<typeof document>[0]['blocks']

const returnsInput = block('end', 'function', { code: 'return <form.input>' })

/** Deploys a form. Returns the URL of its page. */
async function form(params: object = {}, steps: Blocks = [], end: Blocks = [returnsInput]): Promise<string> {
  const { serving, apiKey } = visited
  const path = crypto.randomUUID()
  const blocks = [
    block('start', 'form_trigger', { path, title: 'Order a <b>meal</b>', fields, ...params }),
    ...steps,
    ...end,
  ]
  const edges = blocks.slice(1).map(({ id }, index) => `${blocks[index]!.id} > ${id}`)
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', document({ name: path, blocks, edges }))
  const { id } = body as { id: string }
  await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST')
  return `${serving.url}/form/${path}`
}

/** The output of the latest run. */
async function lastOutput(): Promise<Record<string, unknown>> {
  const { serving, apiKey, workspaceId } = visited
  return await until(async () => {
    const query = `workspaceId=${workspaceId}&limit=1&includeFinalOutput=true&details=full`
    const { body } = await call(`${serving.url}/api/v1/logs?${query}`, apiKey, 'GET')
    const { data } = body as { data: { finalOutput: { result: Record<string, unknown> } }[] }
    return data[0]?.finalOutput.result
  })
}

/** A phone without a session. Its script errors are collected. */
async function phone(colorScheme: 'light' | 'dark' = 'light'): Promise<{ page: Page; errors: string[] }> {
  const context = await visited.browser.newContext({ viewport: { width: 390, height: 780 }, colorScheme })
  const page = await context.newPage()
  return { page, errors: listen(page) }
}

const focused = (page: Page) => page.evaluate(() => globalThis.document.activeElement?.getAttribute('name'))

describe('the page of a form', () => {
  test('is filled in on a phone, by keyboard alone, in light and dark', async () => {
    const url = await form({ description: 'Until <i>noon</i>.\nThank you.', thanks: 'See you soon.' })
    const { page, errors } = await phone()
    await page.goto(url)
    // Texts of authors are shown as text.
    await page.getByRole('heading', { name: 'Order a <b>meal</b>' }).waitFor()
    await page.getByText('Until <i>noon</i>.').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    expect(await page.evaluate(() => globalThis.document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    // An empty form says what is missing, beside the field and with the focus there.
    await page.getByRole('button', { name: 'Send' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Fill in Your name.').waitFor()
    expect(await focused(page)).toBe('name')
    expect(await faultsInBothThemes(page)).toEqual([])
    const type = async (text: string) => {
      await page.keyboard.type(text)
      await page.keyboard.press('Tab')
    }
    await type('Ada')
    await type('ada@example')
    // The date input has parts for month, day and year, and then a button.
    await page.keyboard.type('02282027')
    while ((await focused(page)) !== 'guests') await page.keyboard.press('Tab')
    await type('2.50')
    await type('Rice')
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.type('No salt,\nplease')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('E-mail must be an e-mail address').waitFor()
    expect(await focused(page)).toBe('mail')
    // Nothing that was typed is lost.
    expect(await page.getByLabel('Wishes').inputValue()).toBe('No salt,\nplease')
    await page.keyboard.press('End')
    await page.keyboard.type('.com')
    await page.keyboard.press('Enter')
    await page.getByText('See you soon.').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    expect(await lastOutput()).toEqual({
      ...{ name: 'Ada', mail: 'ada@example.com', day: '2027-02-28', guests: 2.5, meal: 'Rice' },
      ...{ days: ['Monday', 'Tuesday'], vegan: true, wish: 'No salt,\nplease' },
    })
    expect(errors).toEqual([])
    await page.context().close()
  }, 120_000)

  test('follows the system of the visitor, and has the accent colour of the form', async () => {
    const url = await form({ fields: [], accent: '#ffd400' })
    const backgrounds = []
    for (const scheme of ['light', 'dark'] as const) {
      const { page, errors } = await phone(scheme)
      await page.goto(url)
      const send = page.getByRole('button', { name: 'Send' })
      await send.waitFor()
      const colors = await send.evaluate((button) => {
        const { backgroundColor, color } = getComputedStyle(button)
        return { backgroundColor, color }
      })
      expect(colors).toEqual({ backgroundColor: 'rgb(255, 212, 0)', color: 'rgb(0, 0, 0)' })
      expect(await accessibilityFaults(page)).toEqual([])
      backgrounds.push(await page.evaluate(() => getComputedStyle(globalThis.document.body).backgroundColor))
      expect(errors).toEqual([])
      await page.context().close()
    }
    expect(backgrounds[0]).not.toBe(backgrounds[1])
  }, 120_000)

  test('sends a file of 20 MB, and refuses a larger one before it is sent', async () => {
    const url = await form({ fields: [{ name: 'papers', type: 'files', label: 'Papers', required: true }] })
    const { page } = await phone()
    await page.goto(url)
    const [large, huge] = [join(visited.data, 'large.bin'), join(visited.data, 'huge.bin')]
    writeFileSync(large, new Uint8Array(20 * 1_048_576))
    writeFileSync(huge, new Uint8Array(20 * 1_048_576 + 1))
    await page.getByLabel('Papers').setInputFiles(huge)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('“huge.bin” is larger than 20 MB').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    // The service refuses what does not fit together, and the page says so without naming a setting.
    await page.getByLabel('Papers').setInputFiles([large, large])
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('This is too large to send. Shorten the texts, or choose fewer or smaller files.').waitFor()
    await page.getByLabel('Papers').setInputFiles(large)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Thank you. The form was sent.').waitFor()
    const { papers } = await lastOutput()
    expect(papers).toMatchObject([{ name: 'large.bin', size: 20 * 1_048_576 }])
    await page.context().close()
  }, 120_000)

  test('asks for the password first, and keeps the form when it has changed meanwhile', async () => {
    const { serving, apiKey, workspaceId } = visited
    const variable = `${serving.url}/api/workspaces/${workspaceId}/environment/FORM_PASSWORD`
    await call(variable, apiKey, 'PUT', { value: 'sésame' })
    const url = await form({ fields: fields.slice(0, 1), access: 'password', password: '{{FORM_PASSWORD}}' })
    const { page } = await phone()
    await page.goto(url)
    await page.getByLabel('Password').waitFor()
    expect(await page.getByLabel('Your name').count()).toBe(0)
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByLabel('Password').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('The password is wrong.').waitFor()
    await page.getByLabel('Password').fill('sésame')
    await page.keyboard.press('Enter')
    await page.getByLabel('Your name').fill('Ada')
    await call(variable, apiKey, 'PUT', { value: 'open' })
    // Versions of the variable are remembered for a moment.
    await until(async () => {
      const path = new URL(url).pathname.replace('/form/', '/api/forms/')
      const response = await fetch(serving.url + path, { headers: { 'x-form-password': 'open' } })
      return response.ok
    })
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The password is wrong.').waitFor()
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada')
    await page.getByLabel('Password').fill('open')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('Thank you. The form was sent.').waitFor()
    expect(await lastOutput()).toEqual({ name: 'Ada' })
    await page.context().close()
  }, 120_000)

  test('asks strangers to sign in to a form for members', async () => {
    const url = await form({ fields: fields.slice(0, 1), access: 'members' })
    const { page } = await phone()
    await page.goto(url)
    await page.getByText('Sign in to fill in this form.').waitFor()
    const signIn = page.getByRole('link', { name: 'Sign in' })
    await signIn.waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    // The form opens by itself when they come back.
    expect(await signIn.getAttribute('target')).toBe('_blank')
    await page.context().addCookies(await visited.context.cookies())
    await page.evaluate(() => globalThis.dispatchEvent(new Event('focus')))
    await page.getByLabel('Your name').waitFor()
    await page.context().close()
    await visited.page.goto(url)
    await visited.page.getByLabel('Your name').fill('Owner')
    await visited.page.getByRole('button', { name: 'Send' }).click()
    await visited.page.getByText('Thank you. The form was sent.').waitFor()
    expect(visited.pageErrors).toEqual([])
  }, 120_000)

  test('opens the redirect after it was sent, or shows the text that the workflow responds with', async () => {
    const thanks = `${visited.serving.url}/docs/forms`
    const { page } = await phone()
    await page.goto(await form({ fields: [], redirect: thanks }))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.waitForURL(thanks)
    const answer = block('answer', 'response', { data: '"Your number is 7."' })
    await page.goto(await form({ fields: [], respond: 'workflow' }, [], [answer]))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Your number is 7.').waitFor()
    await page.context().close()
  }, 120_000)

  test('says in plain words that a form is closed, and that the service cannot be reached', async () => {
    const { page } = await phone()
    const missing = await page.goto(`${visited.serving.url}/form/never-there`)
    expect(missing?.status()).toBe(404)
    await page.getByText('No form is open at this address').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.goto(await form({ fields: fields.slice(0, 1) }))
    await page.getByLabel('Your name').fill('Ada')
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The service cannot be reached.').waitFor()
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada')
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Thank you. The form was sent.').waitFor()
    await page.context().close()
  }, 120_000)

  test('leads on to the approvals of its run, with files, by keyboard alone, and to the thanks at the end', async () => {
    const receipt = { name: 'receipt', type: 'files', label: 'Receipt', required: true }
    const steps = [
      block('one', 'approval', { title: 'First page', fields: [receipt] }),
      block('two', 'approval', { title: 'Second page', fields: [{ name: 'why', type: 'string', label: 'Why' }] }),
    ]
    const end = { thanks: 'All pages are done.', respond: 'next', accent: '#ffd400' }
    const { page, errors } = await phone()
    // From the start: the browser takes a moment to pass on the choice of files.
    const chooser = Promise.withResolvers<FileChooser>()
    page.on('filechooser', chooser.resolve)
    await page.goto(await form({ fields: fields.slice(0, 1), ...end }, steps))
    await page.getByLabel('Your name').focus()
    await page.keyboard.type('Ada')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'First page' }).waitFor()
    const onward = page.getByRole('button', { name: 'Continue' })
    expect(await onward.evaluate((button) => getComputedStyle(button).backgroundColor)).toBe('rgb(255, 212, 0)')
    await onward.focus()
    await page.keyboard.press('Enter')
    await page.getByText('Choose a file for Receipt.').waitFor()
    expect(await focused(page)).toBe('receipt')
    expect(await faultsInBothThemes(page)).toEqual([])
    await page.keyboard.press('Enter')
    const file = { name: 'receipt.txt', mimeType: 'text/plain', buffer: Buffer.from('the receipt') }
    await (await chooser.promise).setFiles(file)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Second page' }).waitFor()
    await page.getByLabel('Why').focus()
    await page.keyboard.type('Because')
    await page.keyboard.press('Enter')
    await page.getByText('All pages are done.').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    expect(await lastOutput()).toEqual({ name: 'Ada' })
    expect(errors).toEqual([])
    await page.context().close()
  }, 120_000)

  test('ends with other words, and without the redirect, when the visitor declines a further page', async () => {
    const steps = [block('one', 'approval', { title: 'Order for 90 euros?' })]
    const end = { thanks: 'Your order is on its way.', redirect: `${visited.serving.url}/docs/forms`, respond: 'next' }
    const { page, errors } = await phone()
    await page.goto(await form({ fields: [], ...end }, steps))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('heading', { name: 'Order for 90 euros?' }).waitFor()
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.getByText('Declined. You can close this page.').waitFor()
    expect(new URL(page.url()).pathname).toStartWith('/pause/')
    expect(errors).toEqual([])
    await page.context().close()
  }, 120_000)
})
