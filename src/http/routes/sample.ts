import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Door } from '../door.ts'
import { documented, operation } from '../operation.ts'
import { QuoteList, responses } from '../responses.ts'

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
      door.allowAnonymous(request, set)
      // Forgiving: an empty tag is what a caller sends who left out an optional field of the sample workflow.
      const tag = new URL(request.url).searchParams.get('tag')?.trim().toLowerCase() ?? ''
      return { data: quotes.filter((quote) => tag === '' || quote.tag === tag) }
    },
    {
      query: documented(t.Object({ tag: t.Optional(t.String({ description: 'work, time or learning.' })) })),
      response: responses({ 200: QuoteList }),
      detail: operation({
        name: 'getQuotes',
        summary: 'Get a few quotes',
        description: 'Something to try requests with. An unknown tag gives an empty list.',
        tag: 'Operations',
        access: 'everyone',
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
