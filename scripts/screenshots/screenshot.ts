import { resolve } from 'node:path'
import { ModelServer } from '../../test/support/models/model-server.ts'
import { call } from '../../test/support/running-service.ts'
import { visit } from '../../test/support/ui/browser.ts'
import { support } from './screenshot-workflow.ts'

/**
 * `bun scripts/screenshots/screenshot.ts`: writes `docs/images/editor.png`. It starts the executable on a temporary
 * folder, runs a workflow in the editor, and takes a picture of the page. Stand-ins on this machine play the services
 * and the model that the workflow calls.
 */
async function takeScreenshot(): Promise<void> {
  const services = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: respond })
  await using model = await ModelServer.start(() => ({
    text: [
      'Order 4812 arrived ',
      'with a broken lamp. ',
      'The customer needs it by Friday ',
      'and asks for a replacement.',
    ],
    usage: { prompt: 412, completion: 38 },
    gate: () => Bun.sleep(110),
  }))
  const visited = await visit({ environment: { MILLRACE_OUTBOUND_ALLOW: 'loopback' } })
  const { page, serving, apiKey, workspaceId } = visited
  try {
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    const { origin } = services.url
    const variables = { CRM_URL: origin, SHOP_URL: origin, DESK_URL: origin, MODEL_URL: model.url, MODEL_KEY: 'none' }
    for (const [name, value] of Object.entries(variables)) {
      const address = `${serving.url}/api/workspaces/${workspaceId}/environment/${name}`
      await succeed(call(address, apiKey, 'PUT', { value, plain: true }))
    }
    const { id } = await succeed<{ id: string }>(call(`${serving.url}/api/workflows`, apiKey, 'POST', support))
    await succeed(call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST'))
    await page.goto(`${serving.url}/workflows/${id}`)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText(/^Succeeded in/).waitFor()
    await page.locator('.react-flow__pane').click({ position: { x: 500, y: 20 } })
    await page.keyboard.press('f')
    await page.mouse.move(700, 20)
    await page.waitForTimeout(500)
    await page.screenshot({ path: picture })
  } finally {
    await visited.close()
    await services.stop(true)
  }
}

const picture = resolve(import.meta.dir, '..', '..', 'docs', 'images', 'editor.png')

async function succeed<Body>(calling: ReturnType<typeof call>): Promise<Body> {
  const { status, body } = await calling
  if (status >= 300) throw new Error(`The service responded with ${status}: ${JSON.stringify(body)}`)
  return body
}

/** Plays the services that the workflow calls. */
async function respond(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/customers/')) {
    await Bun.sleep(64)
    return Response.json({ id: 'c-219', name: 'Ada Moreau', tier: 'gold' })
  }
  if (pathname.startsWith('/orders')) {
    await Bun.sleep(97)
    return Response.json([{ number: 4812, total: 189, items: ['lamp', 'desk'] }])
  }
  await Bun.sleep(41)
  return Response.json({ ticket: 'T-1043', queue: 'priority' }, { status: 201 })
}

await takeScreenshot()
