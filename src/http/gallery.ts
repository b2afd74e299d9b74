import agentTools from '../../samples/gallery/agent-tools.json'
import allPages from '../../samples/gallery/all-pages.json'
import chatAssistant from '../../samples/gallery/chat-assistant.json'
import checkAnswer from '../../samples/gallery/check-answer.json'
import checkInput from '../../samples/gallery/check-input.json'
import contactForm from '../../samples/gallery/contact-form.json'
import csvToJson from '../../samples/gallery/csv-to-json.json'
import dailyReport from '../../samples/gallery/daily-report.json'
import extractData from '../../samples/gallery/extract-data.json'
import fallback from '../../samples/gallery/fallback.json'
import forwardWebhook from '../../samples/gallery/forward-webhook.json'
import githubPush from '../../samples/gallery/github-push.json'
import greeting from '../../samples/gallery/greeting.json'
import holidayRequest from '../../samples/gallery/holiday-request.json'
import loopList from '../../samples/gallery/loop-list.json'
import mcpTools from '../../samples/gallery/mcp-tools.json'
import mergeServices from '../../samples/gallery/merge-services.json'
import newsToSlack from '../../samples/gallery/news-to-slack.json'
import nightlySync from '../../samples/gallery/nightly-sync.json'
import onlyNewItems from '../../samples/gallery/only-new-items.json'
import parallelList from '../../samples/gallery/parallel-list.json'
import pollJob from '../../samples/gallery/poll-job.json'
import readPage from '../../samples/gallery/read-page.json'
import receiveFiles from '../../samples/gallery/receive-files.json'
import reportFailures from '../../samples/gallery/report-failures.json'
import slackCommand from '../../samples/gallery/slack-command.json'
import sortMessages from '../../samples/gallery/sort-messages.json'
import stripeEvents from '../../samples/gallery/stripe-events.json'
import summarise from '../../samples/gallery/summarise.json'
import translateList from '../../samples/gallery/translate-list.json'
import uptime from '../../samples/gallery/uptime.json'
import type { ErrorDetail } from '../domain/errors.ts'
import { readDocument } from '../domain/workflow/document.ts'
import type { WorkflowDocument } from '../domain/workflow/workflow.ts'

export const galleryCategories = ['Endpoints', 'Lists', 'Forms', 'Webhooks', 'Schedules', 'Language models'] as const
export type GalleryCategory = (typeof galleryCategories)[number]

/** A ready workflow that a person can start from. `needs`: the environment variables to set before it runs. */
export type GalleryItem = {
  id: string
  category: GalleryCategory
  document: WorkflowDocument
  needs: { name: string; meaning: string }[]
}

/**
 * The ready workflows, in the order in which they are shown. `url` is the service's own address: some of them call its
 * sample route, so that they run without internet access.
 */
export function galleryOf(url: string): GalleryItem[] {
  return items.map(([id, category, source]) => {
    const reading = readDocument(JSON.parse(JSON.stringify(source).replaceAll(addressInSamples, url)))
    if ('details' in reading) throw new Error(`The gallery's workflow ${id} is invalid: ${textOf(reading.details)}`)
    return { id, category, document: reading.document, needs: needsOf(source) }
  })
}

const items: readonly (readonly [string, GalleryCategory, object])[] = [
  ['greeting', 'Endpoints', greeting],
  ['check-input', 'Endpoints', checkInput],
  ['merge-services', 'Endpoints', mergeServices],
  ['fallback', 'Endpoints', fallback],
  ['receive-files', 'Endpoints', receiveFiles],
  ['poll-job', 'Endpoints', pollJob],
  ['read-page', 'Endpoints', readPage],
  ['loop-list', 'Lists', loopList],
  ['parallel-list', 'Lists', parallelList],
  ['all-pages', 'Lists', allPages],
  ['csv-to-json', 'Lists', csvToJson],
  ['holiday-request', 'Forms', holidayRequest],
  ['contact-form', 'Webhooks', contactForm],
  ['github-push', 'Webhooks', githubPush],
  ['stripe-events', 'Webhooks', stripeEvents],
  ['slack-command', 'Webhooks', slackCommand],
  ['forward-webhook', 'Webhooks', forwardWebhook],
  ['report-failures', 'Webhooks', reportFailures],
  ['daily-report', 'Schedules', dailyReport],
  ['uptime', 'Schedules', uptime],
  ['only-new-items', 'Schedules', onlyNewItems],
  ['nightly-sync', 'Schedules', nightlySync],
  ['news-to-slack', 'Schedules', newsToSlack],
  ['chat-assistant', 'Language models', chatAssistant],
  ['summarise', 'Language models', summarise],
  ['extract-data', 'Language models', extractData],
  ['sort-messages', 'Language models', sortMessages],
  ['check-answer', 'Language models', checkAnswer],
  ['translate-list', 'Language models', translateList],
  ['agent-tools', 'Language models', agentTools],
  ['mcp-tools', 'Language models', mcpTools],
]

/** The meaning of each environment variable that the workflows use. */
const meanings: Readonly<Record<string, string>> = {
  ALERT_TOKEN: 'The token that senders of alerts show.',
  ALERT_URL: 'The address that receives alerts, such as an incoming webhook of a chat.',
  FEED_URL: 'The address of an RSS, Atom or JSON feed.',
  FORWARD_URL: 'The address that receives the forwarded requests.',
  GITHUB_WEBHOOK_SECRET: 'The secret of the webhook in the settings of the GitHub repository.',
  JOB_URL: 'The address of the service that runs jobs. A POST starts one; a GET with its id returns its status.',
  LIST_URL: 'The address of the list. It takes the parameter "page" and responds with "items".',
  MCP_URL: 'The address of an MCP server. If it needs a sign-in, choose a credential in the tool of the agent.',
  MODEL_KEY: 'The API key of the service of the language model.',
  MODEL_NAME: 'The name of the language model.',
  MODEL_URL: 'The address of a service with the API of OpenAI, including /v1.',
  RATES_URL: 'The address of a service that responds with "rate".',
  SLACK_SIGNING_SECRET: 'The signing secret of the Slack app.',
  SLACK_WEBHOOK_URL: 'The incoming webhook of the Slack channel.',
  SOURCE_URL: 'The address of the list of changed records. It takes the parameter "since".',
  STRIPE_WEBHOOK_SECRET: 'The signing secret of the webhook endpoint in Stripe.',
  TARGET_URL: 'The address that takes each record with PUT.',
}

function needsOf(source: object): GalleryItem['needs'] {
  const names = new Set(JSON.stringify(source).match(/(?<=\{\{)[A-Z_]+(?=\}\})/g))
  return [...names].map((name) => ({ name, meaning: meanings[name] ?? '' }))
}

function textOf(details: readonly ErrorDetail[]): string {
  return details.map(({ path, message }) => `${path}: ${message}`).join(' ')
}

/** The address of the service in the files, which can also be pushed as they are. */
const addressInSamples = 'http://127.0.0.1:3000'
