// Long because all of these tests need the same page.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { block } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults, faultsInBothThemes } from '../accessibility.ts'
import { type Blocks, deployForm, fields, focused, outputOf, phone } from './form-visit.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit({ environment: { MILLRACE_FORM_VISITOR_PER_MINUTE: '1000' } })
}, 120_000)
afterAll(() => visited.close())

const form = (params?: object, steps?: Blocks, end?: Blocks) => deployForm(visited, params, steps, end)

describe('the page of a form', () => {
  test('can be filled in on a phone, by keyboard alone, in light and dark', async () => {
    const url = await form({ description: 'Until <i>noon</i>.\nThank you.', thanks: 'See you soon.' })
    const { page, errors } = await phone(visited)
    await page.goto(url)
    // Texts of authors are shown as text.
    await page.getByRole('heading', { name: 'Order a <b>meal</b>' }).waitFor()
    await page.getByText('Until <i>noon</i>.').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    expect(await page.evaluate(() => globalThis.document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
    // An empty form shows the problem beside the field, and moves the focus there.
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
    // The page keeps everything that was typed.
    expect(await page.getByLabel('Wishes').inputValue()).toBe('No salt,\nplease')
    await page.keyboard.press('End')
    await page.keyboard.type('.com')
    await page.keyboard.press('Enter')
    await page.getByText('See you soon.').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    expect(await outputOf(visited, url)).toEqual({
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
      const { page, errors } = await phone(visited, scheme)
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

  test('marks invalid choices and an invalid object', async () => {
    const all = [
      { name: 'days', type: 'array', label: 'Days', options: ['Monday', 'Tuesday'], required: true },
      { name: 'more', type: 'object', label: 'More' },
    ]
    const { page, errors } = await phone(visited)
    const url = await form({ fields: all })
    await page.goto(url)
    await page.getByLabel('More').fill('{')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Choose Days.').waitFor()
    await page.getByText('More must be an object').waitFor()
    const border = (label: string) => page.getByLabel(label).evaluate((each) => getComputedStyle(each).borderColor)
    expect(await faultsInBothThemes(page)).toEqual([])
    const marked = await border('More')
    await page.getByLabel('Tuesday').check()
    await page.getByLabel('More').fill('{ "a": 1 }')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Thank you. The form was sent.').waitFor()
    expect(await outputOf(visited, url)).toEqual({ days: ['Tuesday'], more: { a: 1 } })
    await page.reload()
    expect(await border('More')).not.toBe(marked)
    expect(errors).toEqual([])
    await page.context().close()
  }, 120_000)

  test('sends a file of 20 MB, and refuses a larger one before it is sent', async () => {
    const url = await form({ fields: [{ name: 'papers', type: 'files', label: 'Papers', required: true }] })
    const { page } = await phone(visited)
    await page.goto(url)
    const [large, huge] = [join(visited.data, 'large.bin'), join(visited.data, 'huge.bin')]
    writeFileSync(large, new Uint8Array(20 * 1_048_576))
    writeFileSync(huge, new Uint8Array(20 * 1_048_576 + 1))
    await page.getByLabel('Papers').setInputFiles(huge)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('“huge.bin” is larger than 20 MB').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    // The service refuses files that are too large together, and the page says so without naming a setting.
    await page.getByLabel('Papers').setInputFiles([large, large])
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('This is too large to send. Shorten the texts, or choose fewer or smaller files.').waitFor()
    await page.getByLabel('Papers').setInputFiles(large)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Thank you. The form was sent.').waitFor()
    const { papers } = await outputOf(visited, url)
    expect(papers).toMatchObject([{ name: 'large.bin', size: 20 * 1_048_576 }])
    await page.context().close()
  }, 120_000)

  test('asks for the password first, and keeps the entered values when the password changes', async () => {
    const { serving, apiKey, workspaceId } = visited
    const variable = `${serving.url}/api/workspaces/${workspaceId}/environment/FORM_PASSWORD`
    await call(variable, apiKey, 'PUT', { value: 'sésame' })
    const url = await form({ fields: fields.slice(0, 1), access: 'password', password: '{{FORM_PASSWORD}}' })
    const { page } = await phone(visited)
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
    expect(await outputOf(visited, url)).toEqual({ name: 'Ada' })
    await page.context().close()
  }, 120_000)

  test('asks visitors to sign in to a form for members', async () => {
    const url = await form({ fields: fields.slice(0, 1), access: 'members' })
    const { page } = await phone(visited)
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

  test('opens the redirect after it was sent, or shows the text of the response', async () => {
    const thanks = `${visited.serving.url}/docs/forms`
    const { page } = await phone(visited)
    await page.goto(await form({ fields: [], redirect: thanks }))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.waitForURL(thanks)
    const answer = block('answer', 'response', { data: '"Your number is 7."' })
    await page.goto(await form({ fields: [], respond: 'workflow' }, [], [answer]))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Your number is 7.').waitFor()
    await page.context().close()
  }, 120_000)

  test('explains that a form is closed, and that the service cannot be reached', async () => {
    const { page } = await phone(visited)
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
})
