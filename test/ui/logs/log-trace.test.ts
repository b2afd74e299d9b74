import { expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { call, deploy } from '../../support/running-service.ts'
import { Collector } from '../../support/telemetry/collector.ts'
import { visit } from '../../support/ui/browser.ts'
import { faultsInBothThemes } from '../accessibility.ts'

test('the entry of an exported run shows its trace ID, on wide and narrow screens', async () => {
  using collector = new Collector()
  const visited = await visit({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
  try {
    const { page, serving, apiKey, workspaceId, pageErrors } = visited
    const workflow = document({ name: 'Traced', blocks: [block('start', 'api_trigger')] })
    const { executionId } = (await call(await deploy(serving.url, apiKey, workflow), apiKey, 'POST', {})).body as {
      executionId: string
    }
    await page.goto(`${serving.url}/w/${workspaceId}/logs?search=Traced`)
    await page.getByText('Traced').first().click()
    await page.getByRole('button', { name: 'Copy trace ID' }).waitFor()
    expect(await page.getByTitle(executionId.replaceAll('-', '')).isVisible()).toBeTrue()
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await faultsInBothThemes(page)).toEqual([])
    }
    expect(pageErrors).toEqual([])
  } finally {
    await visited.close()
  }
}, 120_000)
