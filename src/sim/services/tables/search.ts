import { textOf } from '../../sim-document.ts'
import { flag, from, list, number, text } from '../read.ts'
import type { ServiceRules } from '../rule.ts'

const sendsHeader = (name: string, header: string, host: string) => () => [
  `The credential for ${name} sends the header ${header} to ${host}.`,
]

export const serper: ServiceRules = {
  types: ['serper'],
  service: 'Serper',
  connector: 'serper',
  credential: { kind: 'header', secrets: ['apiKey'] },
  credentialNotes: sendsHeader('Serper', 'X-API-KEY', 'google.serper.dev'),
  usual: 'search',
  choose: (_, values) => textOf(values.peek('type')) || 'search',
  drop: ['type'],
  operations: Object.fromEntries(
    Object.entries({ search: 'organic', news: 'news', places: 'places', images: 'images' }).map(([type, results]) => [
      type,
      {
        method: 'POST' as const,
        url: `https://google.serper.dev/${type}`,
        body: { q: text('query'), num: number('num'), gl: text('gl'), hl: text('hl') },
        asks: ['q'],
        outputs: { searchResults: `data.${results}` },
      },
    ]),
  ),
}

export const tavily: ServiceRules = {
  types: ['tavily'],
  service: 'Tavily',
  connector: 'tavily',
  credential: { kind: 'bearer', secrets: ['apiKey'] },
  usual: 'tavily_search',
  operations: {
    tavily_search: {
      method: 'POST',
      url: 'https://api.tavily.com/search',
      body: {
        query: text('query'),
        max_results: number('max_results'),
        topic: from('topic'),
        search_depth: from('search_depth'),
        include_answer: from('include_answer'),
        include_raw_content: from('include_raw_content'),
        include_images: flag('include_images'),
        time_range: from('time_range'),
        include_domains: list('include_domains'),
        exclude_domains: list('exclude_domains'),
      },
      asks: ['query'],
      outputs: { '*': 'data' },
    },
    tavily_extract: {
      method: 'POST',
      url: 'https://api.tavily.com/extract',
      body: { urls: list('urls'), extract_depth: from('extract_depth'), format: from('format') },
      asks: ['urls'],
      outputs: { results: 'data.results', failed_results: 'data.failed_results', '*': 'data.results[0]' },
    },
  },
}

export const exa: ServiceRules = {
  types: ['exa'],
  service: 'Exa',
  connector: 'exa',
  credential: { kind: 'header', secrets: ['apiKey'] },
  credentialNotes: sendsHeader('Exa', 'x-api-key', 'api.exa.ai'),
  usual: 'exa_search',
  drop: ['useAutoprompt'],
  operations: {
    exa_search: {
      method: 'POST',
      url: 'https://api.exa.ai/search',
      body: { query: text('query'), numResults: number('numResults'), type: from('type') },
      asks: ['query'],
      outputs: { results: 'data.results' },
    },
    exa_get_contents: {
      method: 'POST',
      url: 'https://api.exa.ai/contents',
      body: { urls: list('urls'), text: flag('text') },
      asks: ['urls'],
      outputs: { results: 'data.results' },
    },
    exa_find_similar_links: {
      method: 'POST',
      url: 'https://api.exa.ai/findSimilar',
      body: { url: text('url'), numResults: number('numResults') },
      asks: ['url'],
      outputs: { similarLinks: 'data.results' },
    },
    exa_answer: {
      method: 'POST',
      url: 'https://api.exa.ai/answer',
      body: { query: text('query'), text: flag('text') },
      asks: ['query'],
      outputs: { answer: 'data.answer', citations: 'data.citations' },
    },
  },
}

export const googleSearch: ServiceRules = {
  types: ['google_search'],
  service: 'Google Search',
  connector: 'google-search',
  credential: { kind: 'query', secrets: ['apiKey'] },
  credentialNotes: () => ['The credential for Google Search sends the parameter "key" to www.googleapis.com.'],
  usual: 'search',
  operations: {
    search: {
      method: 'GET',
      url: 'https://www.googleapis.com/customsearch/v1',
      query: { q: text('query'), cx: text('searchEngineId'), num: number('num') },
      asks: ['q'],
      outputs: { items: 'data.items', searchInformation: 'data.searchInformation' },
    },
  },
}

export const jina: ServiceRules = {
  types: ['jina'],
  service: 'Jina',
  connector: 'jina',
  credential: { kind: 'bearer', secrets: ['apiKey'] },
  usual: 'jina_read_url',
  operations: {
    jina_read_url: {
      method: 'POST',
      url: 'https://r.jina.ai/',
      headers: { Accept: 'application/json' },
      body: { url: text('url') },
      asks: ['url'],
      outputs: { content: 'data.data.content' },
    },
    jina_search: {
      method: 'POST',
      url: 'https://s.jina.ai/',
      headers: { Accept: 'application/json' },
      body: { q: text('q'), num: number('num') },
      asks: ['q'],
      outputs: { results: 'data.data' },
    },
  },
}

export const perplexity: ServiceRules = {
  types: ['perplexity'],
  service: 'Perplexity',
  connector: 'perplexity',
  credential: { kind: 'bearer', secrets: ['apiKey'] },
  usual: 'perplexity_chat',
  operations: {
    perplexity_chat: {
      method: 'POST',
      url: 'https://api.perplexity.ai/chat/completions',
      body: {
        model: (values) => text('model')(values) ?? 'sonar',
        messages: (values) => {
          const system = text('systemPrompt')(values)
          const user = text('content')(values)
          if (user === undefined) return undefined
          const first = system === undefined ? [] : [{ role: 'system', content: system }]
          return [...first, { role: 'user', content: user }]
        },
        max_tokens: number('max_tokens'),
        temperature: number('temperature'),
      },
      asks: ['messages'],
      outputs: { content: 'data.choices[0].message.content', model: 'data.model', usage: 'data.usage' },
    },
  },
}

export const openai: ServiceRules = {
  types: ['openai'],
  service: 'OpenAI embeddings',
  connector: 'openai',
  credential: { kind: 'bearer', secrets: ['apiKey'] },
  usual: 'embeddings',
  operations: {
    embeddings: {
      method: 'POST',
      url: 'https://api.openai.com/v1/embeddings',
      body: { input: text('input'), model: (values) => text('model')(values) ?? 'text-embedding-3-small' },
      asks: ['input'],
      outputs: { model: 'data.model', usage: 'data.usage' },
      notes: ['The first embedding is in "data.data[0].embedding".'],
    },
  },
}
