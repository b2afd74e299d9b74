import { describe, expect, test } from 'bun:test'
import { importSim, type SimImport } from '../../../src/sim/import/import-sim.ts'
import type { SimFile } from '../../support/sim/files.ts'
import { lossesOf } from '../../support/sim/losses.ts'
import {
  competitorMonitor,
  knowledgeQuestions,
  meetingFollowUp,
  releaseAnnouncement,
  resumeParser,
} from '../../support/sim/templates.ts'

function imported(file: SimFile): SimImport {
  const result = importSim(file)
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  expect(lossesOf(file, result.document, result.notes)).toEqual([])
  expect(Object.keys(result.document.notes ?? {})).toEqual(['n1', 'n2'])
  return result
}

describe('an imported template', () => {
  test('that announces releases consists of a verified webhook, a condition, an agent and an operation', () => {
    const { document, placeholders, credentials } = imported(releaseAnnouncement())
    expect(placeholders).toEqual([])
    expect(credentials).toEqual([{ name: 'slack-bot-token', kind: 'bearer', for: ['post'] }])
    const { hook, writer, post } = document.blocks
    expect(hook?.params?.['authentication']).toEqual({
      type: 'signature',
      scheme: 'github',
      secret: '{{GITHUB_SECRET}}',
    })
    expect(JSON.stringify(writer?.params)).toContain('<newrelease.body.release.tag_name>')
    expect(post?.params).toMatchObject({
      operation: 'sendMessage',
      params: { channel: 'C0RELEASES', text: '<writer.content>\n<newrelease.body.release.html_url>' },
    })
  })

  test('that watches competitors keeps the schedule, and the tool becomes an operation', () => {
    const { document, placeholders, credentials } = imported(competitorMonitor())
    expect(placeholders).toEqual([])
    expect(credentials.map(({ name }) => name).toSorted()).toEqual(['firecrawl-api-key', 'slack-bot-token'])
    expect(document.blocks['analyst']?.params?.['tools']).toMatchObject([
      { type: 'operation', connector: 'firecrawl', operation: 'scrape', params: { formats: ['markdown'] } },
    ])
  })

  test('that reads CVs keeps the file input, the tool and the row', () => {
    const { document, placeholders, credentials } = imported(resumeParser())
    expect(placeholders).toEqual([])
    expect(credentials.map(({ name, kind }) => `${name}: ${kind}`).toSorted()).toEqual([
      'google-sheets-acc0001: oauth2_authorization_code',
      'mistral-ocr-mistral-api-key: bearer',
    ])
    expect(document.blocks['parser']?.params?.['tools']).toMatchObject([
      { connector: 'mistral-ocr', operation: 'readDocument', params: { url: '<start.cv[0].url>' } },
    ])
    expect(document.blocks['row']?.params?.['params']).toMatchObject({
      range: 'People',
      values: [['<parser.content.person>', '<parser.content.email>']],
    })
  })

  test('that writes after meetings keeps the loop, and reads the events where they are now', () => {
    const { document, placeholders } = imported(meetingFollowUp())
    expect(placeholders).toEqual([])
    expect(document.loops?.['each']).toMatchObject({ loopType: 'forEach', forEachItems: '<ended.result>' })
    expect(document.blocks['ended']?.params?.['code']).toContain('<events.data>.filter')
    expect(document.blocks['send']).toMatchObject({ parentId: 'each', params: { connector: 'gmail' } })
  })

  test('that asks a knowledge base has a placeholder for it beside the agent', () => {
    const { placeholders } = imported(knowledgeQuestions())
    expect(placeholders).toMatchObject([{ from: 'knowledge', needs: 'a knowledge base' }])
  })
})
