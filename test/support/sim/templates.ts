import { type SimFile, simBlock, simFile } from './files.ts'

/** Workflow files with the block types, tools and connections of common templates, and contents of our own. */

const note = (id: string, content: string) => simBlock(id, 'note', { content })

const agentValues = (prompt: string, tools: readonly object[] = []) => ({
  model: 'vllm/stand-in',
  messages: [
    { role: 'system', content: 'You write short, friendly texts for a small team.' },
    { role: 'user', content: prompt },
  ],
  tools,
})

/** A release on GitHub is announced in Slack. */
export function releaseAnnouncement(): SimFile {
  return simFile(
    [
      simBlock(
        'hook',
        'github_v2',
        {
          operation: 'github_pr',
          selectedTriggerId: 'github_release_published',
          triggerId: 'github_release_published',
          webhookSecret: '{{GITHUB_SECRET}}',
          contentType: 'application/json',
        },
        { name: 'New release', triggerMode: true },
      ),
      simBlock(
        'writer',
        'agent',
        agentValues('Announce <newrelease.release.name> (<newrelease.release.tag_name>): <newrelease.release.body>'),
        { name: 'Writer' },
      ),
      simBlock(
        'post',
        'slack',
        {
          operation: 'send',
          authMethod: 'bot_token',
          destinationType: 'channel',
          botToken: '{{SLACK_BOT_TOKEN}}',
          manualChannel: 'C0RELEASES',
          messageFormat: 'text',
          text: '<writer.content>\n<newrelease.release.html_url>',
        },
        { name: 'Post' },
      ),
      note('n1', 'The trigger needs a webhook in the settings of the repository.'),
      note('n2', 'Choose the channel in the last block.'),
    ],
    ['hook > writer', 'writer > post'],
    { metadata: { name: 'Release announcement' } },
  )
}

/** Every morning, an agent reads pages of competitors, and a digest goes to Slack. */
export function competitorMonitor(): SimFile {
  const firecrawl = {
    type: 'firecrawl',
    title: 'Firecrawl',
    toolId: 'firecrawl_scrape',
    operation: 'scrape',
    params: { apiKey: '{{FIRECRAWL_API_KEY}}', formats: '["markdown"]', onlyMainContent: 'true', url: '' },
    usageControl: 'auto',
    isExpanded: true,
  }
  return simFile(
    [
      simBlock('daily', 'schedule', { scheduleType: 'daily', dailyTime: '07:30', timezone: 'UTC' }, { name: 'Daily' }),
      simBlock('analyst', 'agent', agentValues('Read https://rival.example/pricing and report changes.', [firecrawl]), {
        name: 'Analyst',
      }),
      simBlock(
        'post',
        'slack_v2',
        {
          operation: 'send',
          authMethod: 'bot_token',
          botToken: '{{SLACK_BOT_TOKEN}}',
          channel: 'C0RIVALS',
          text: '<analyst.content>',
        },
        { name: 'Post' },
      ),
      note('n1', 'Edit the list of pages in the instructions of the agent.'),
      note('n2', 'The digest is sent at half past seven.'),
    ],
    ['daily > analyst', 'analyst > post'],
    { metadata: { name: 'Competitor monitor' } },
  )
}

/** A CV is read, and its data become a row of a sheet. */
export function resumeParser(): SimFile {
  const reader = {
    type: 'mistral_parse_v3',
    title: 'Mistral Parser',
    params: { apiKey: '{{MISTRAL_API_KEY}}', resultType: 'markdown', fileReference: '<start.cv>' },
    usageControl: 'force',
  }
  return simFile(
    [
      simBlock(
        'start',
        'start_trigger',
        { inputFormat: [{ id: 'f', name: 'cv', type: 'file[]', value: '' }] },
        { name: 'Start' },
      ),
      simBlock(
        'parser',
        'agent',
        {
          ...agentValues('Read <start.cv> and extract the name and the e-mail.', [reader]),
          responseFormat:
            '{"type":"json_schema","json_schema":{"name":"person","schema":{"type":"object","properties":{"person":{"type":"string"},"email":{"type":"string"}}}}}',
        },
        { name: 'Parser' },
      ),
      simBlock(
        'row',
        'google_sheets_v2',
        {
          operation: 'append',
          credential: 'acc-0001',
          manualSpreadsheetId: 'sheet-of-people',
          manualSheetName: 'People',
          values: '[["<parser.person>", "<parser.email>"]]',
          insertDataOption: 'INSERT_ROWS',
        },
        { name: 'Add row' },
      ),
      note('n1', 'Upload a CV as PDF.'),
      note('n2', 'The sheet has one row for each person.'),
    ],
    ['start > parser', 'parser > row'],
    { metadata: { name: 'CV reader' } },
  )
}

/** After meetings, attendees receive a mail. */
export function meetingFollowUp(): SimFile {
  return simFile(
    [
      simBlock('hourly', 'schedule', { scheduleType: 'hourly', hourlyMinute: '15' }, { name: 'Hourly' }),
      simBlock(
        'events',
        'google_calendar_v2',
        { operation: 'list', credential: 'acc-0002', calendarId: 'primary', timeMin: '2026-08-01T00:00:00Z' },
        { name: 'Events' },
      ),
      simBlock(
        'ended',
        'function',
        { code: 'return <events.events>.filter((event) => event.attendees)' },
        { name: 'Ended' },
      ),
      simBlock(
        'each',
        'loop',
        {},
        { name: 'Each', data: { loopType: 'forEach', collection: '<ended.result>', type: 'loop' } },
      ),
      simBlock('mailer', 'agent', agentValues('Write a follow-up for <loop.currentItem>.'), {
        name: 'Mailer',
        data: { parentId: 'each', extent: 'parent' },
      }),
      simBlock(
        'send',
        'gmail_v2',
        {
          operation: 'send_gmail',
          credential: 'acc-0003',
          to: '<loop.currentItem.organizer.email>',
          subject: 'Thank you',
          body: '<mailer.content>',
        },
        { name: 'Send', data: { parentId: 'each', extent: 'parent' } },
      ),
      note('n1', 'Connect a calendar.'),
      note('n2', 'Mails are sent at once.'),
    ],
    ['hourly > events', 'events > ended', 'ended > each', 'each:loop-start-source > mailer', 'mailer > send'],
    {
      loops: {
        each: {
          id: 'each',
          nodes: ['mailer', 'send'],
          iterations: 5,
          loopType: 'forEach',
          forEachItems: '<ended.result>',
        },
      },
      metadata: { name: 'Meeting follow-up' },
    },
  )
}

/** Questions are answered from a knowledge base. */
export function knowledgeQuestions(): SimFile {
  const knowledge = {
    type: 'knowledge',
    title: 'Knowledge',
    operation: 'search',
    params: { knowledgeBaseId: 'kb-0001' },
  }
  return simFile(
    [
      simBlock('start', 'start_trigger', {}, { name: 'Start' }),
      simBlock('helper', 'agent', agentValues('<start.input>', [knowledge]), { name: 'Helper' }),
      note('n1', 'Add documents to the knowledge base first.'),
      note('n2', 'Open the chat to ask.'),
    ],
    ['start > helper'],
    { metadata: { name: 'Questions' } },
  )
}
