import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { answers, QuoteList } from '../answers.ts'
import type { Door } from '../door.ts'
import { documented, operation } from '../operation.ts'
import { Parameters } from '../parameters.ts'

/** The one route of the service itself that workflows may call without any setting. */
export const samplePath = '/sample/quotes'

/**
 * Something to call: the sample workflow's API block reads it, so that the first run works without internet. It is the
 * one path of the service itself that the address rules let workflows reach.
 */
export function sampleRoutes(door: Door) {
  return new Elysia().get(
    samplePath,
    ({ request, set }) => {
      door.greet(request, set)
      const parameters = new Parameters(request.url)
      const tag = parameters.text('tag')
      parameters.assertValid()
      return { data: quotes.filter((quote) => tag === undefined || quote.tag === tag.toLowerCase()) }
    },
    {
      query: documented(t.Object({ tag: t.Optional(t.String({ description: 'work, time or learning.' })) })),
      response: answers({ 200: QuoteList }),
      detail: operation({
        summary: 'A few quotes to try requests with',
        tag: 'Operations',
        access: 'everyone',
        errors: ['INVALID_PARAMETERS'],
      }),
    },
  )
}

const quotes = [
  { author: 'Benjamin Franklin', tag: 'time', text: 'Lost time is never found again.' },
  { author: 'Seneca', tag: 'time', text: 'While we are postponing, life speeds by.' },
  { author: 'Aristotle', tag: 'work', text: 'Pleasure in the job puts perfection in the work.' },
  { author: 'Voltaire', tag: 'work', text: 'Work keeps at bay three great evils: boredom, vice and need.' },
  { author: 'Marcus Aurelius', tag: 'learning', text: 'The mind becomes dyed with the colour of its thoughts.' },
  { author: 'Confucius', tag: 'learning', text: 'Learning without thought is labour lost.' },
]
