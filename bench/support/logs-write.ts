import { settings } from './logs-query.ts'
import type { Seeded } from './logs-seed.ts'
import { deploy, load, type Millrace, median, serveMillrace, startMillrace } from './service.ts'

const bar = 0.9

/**
 * How many runs per second are recorded with a full database, compared with an empty one? Alternates, 32 connections.
 */
export async function measureWriting(seeded: Seeded, rounds: number, ms: number): Promise<void> {
  const full = await serveMillrace(seeded, settings)
  const empty = await startMillrace(settings)
  try {
    const trigger = { id: 'start', type: 'api_trigger', name: 'Start', params: {} }
    const response = {
      id: 'answer',
      type: 'response',
      name: 'Answer',
      params: { data: { ok: true, input: '<start.input>' } },
    }
    const document = {
      name: 'Busy',
      blocks: { start: trigger, answer: response },
      edges: [{ source: 'start', target: 'answer' }],
    }
    const targets = {
      empty: { service: empty, url: await deploy(empty, document) },
      full: { service: full, url: `${full.url}/api/workflows/${seeded.workflows.busy}/execute` },
    }
    const rates: Record<keyof typeof targets, number[]> = { empty: [], full: [] }
    for (let round = -1; round < rounds; round += 1) {
      for (const [name, target] of Object.entries(targets) as [keyof typeof targets, (typeof targets)['full']][]) {
        const { perSecond } = await run(target, ms)
        // The first round is a warm-up.
        if (round >= 0) rates[name].push(perSecond)
      }
    }
    const ratio = median(rates.full) / median(rates.empty)
    console.log(
      `runs/s with 32 connections, medians of ${rounds} rounds of ${ms} ms: ${median(rates.empty)} with an empty file, ` +
        `${median(rates.full)} with ${seeded.entries} entries, ${ratio.toFixed(2)} times (at least ${bar})`,
    )
  } finally {
    await full.stop()
    await empty.stop()
  }
}

function run({ service, url }: { service: Millrace; url: string }, ms: number) {
  const body = '{"order":5,"customer":"millrace"}'
  return load({ url, connections: 32, ms, body, headers: [`X-API-Key: ${service.apiKey}`] })
}
