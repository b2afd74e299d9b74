import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BuiltIn } from '../../../src/connectors/built-in.ts'
import { type Connector, ownParameters, type ValueSchema } from '../../../src/domain/connector/connector.ts'
import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node } from '../../support/ui/editor-page.ts'

const connectors = await new BuiltIn().list()

let visited: Visit
beforeAll(async () => {
  visited = await visit()
  const { serving, apiKey, page } = visited
  const params = { connector: 'slack', operation: 'sendMessage' }
  const made = document({
    name: 'Forms',
    blocks: [
      block('start', 'api_trigger', {}, { position: { x: 0, y: 0 } }),
      block('call', 'operation', params, { position: { x: 300, y: 0 } }),
    ],
    edges: ['start > call'],
  })
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
  await page.goto(`${serving.url}/workflows/${(body as { id: string }).id}`)
  await node(page, 'call').click()
  await form().getByLabel('Service', { exact: true }).waitFor()
}, 120_000)
afterAll(() => visited.close())

const form = () => visited.page.getByRole('complementary', { name: 'Block call' })

/** A field of the form: its label, and the choices of a list. */
type FormField = { label: string; choices?: readonly string[] }

/** The fields that a schema asks for. A field of an object is preceded by the names of the objects around it. */
function fieldsOf(parameters: readonly [string, ValueSchema][], around = ''): FormField[] {
  return parameters.flatMap(([name, schema]): FormField[] => {
    const label = `${around}${schema.title ?? name}`
    if (schema.properties)
      return fieldsOf(ownParameters({ parameters: { properties: schema.properties } }), `${label} / `)
    const listed = schema.enum ?? (schema.type === 'boolean' ? ['Yes', 'No'] : undefined)
    return [{ label, ...(listed ? { choices: listed.map(String) } : {}) }]
  })
}

/** The fields on the screen, below the choice of the operation and the credential. */
function shownFields(): Promise<FormField[]> {
  return form().evaluate((inspector) => {
    const shown: { label: string; choices?: string[] }[] = []
    for (const label of inspector.querySelectorAll<HTMLLabelElement>('label[for]')) {
      const text = (label.firstChild?.textContent ?? '').trim()
      // A field for JSON is an editor in a shadow tree, which has the label as its name.
      const field = label.closest('[data-label-line]')?.parentElement
      const named = `[aria-label=${JSON.stringify(text)}]`
      const editor = [...(field?.querySelectorAll('*') ?? [])].find((one) => one.shadowRoot?.querySelector(named))
      const control = globalThis.document.getElementById(label.htmlFor) ?? editor
      if (!control?.checkVisibility()) continue
      const around: string[] = []
      for (let set = label.closest('fieldset'); set; set = set.parentElement?.closest('fieldset') ?? null) {
        around.unshift(set.querySelector(':scope > legend')?.textContent ?? '')
      }
      const options = control instanceof HTMLSelectElement ? [...control.options].map((each) => each.text) : undefined
      const choices = options?.filter((each) => each !== 'Select…' && each !== 'Not set')
      shown.push({ label: [...around, text].join(' / '), ...(choices ? { choices } : {}) })
    }
    return shown
  })
}

async function choose(connector: Connector, operation: string): Promise<void> {
  const service = form().getByLabel('Service', { exact: true })
  if ((await service.inputValue()) !== connector.id) await service.selectOption(connector.id)
  await form().getByLabel('Operation', { exact: true }).selectOption(operation)
}

describe('the form of every operation that comes with Millrace', () => {
  for (const connector of connectors) {
    test(`${connector.name} has a field for each parameter, with its choices`, async () => {
      for (const [name, operation] of Object.entries(connector.operations)) {
        await choose(connector, name)
        const wanted = fieldsOf(ownParameters(operation))
        let shown: FormField[] = []
        const deadline = performance.now() + 10_000
        do {
          shown = (await shownFields()).filter(({ label }) => wanted.some((each) => each.label === label))
        } while (!Bun.deepEquals(shown, wanted) && performance.now() < deadline)
        expect({ operation: name, fields: shown }).toEqual({ operation: name, fields: wanted })
      }
      expect(visited.pageErrors).toEqual([])
    }, 120_000)
  }
})
