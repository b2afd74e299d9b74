import { textOf } from '../../sim-document.ts'
import { from, isGiven, isOpen, json, number, object, type Read, text, then } from '../read.ts'
import type { ServiceRules } from '../rule.ts'

const pageId = from('pageId', 'pageSelector', 'manualPageId')
const databaseId = from('databaseId', 'databaseSelector', 'manualDatabaseId')
const notionHeaders = { 'Notion-Version': '2022-06-28' }

const titled: Read = then(text('title'), (title) => [{ type: 'text', text: { content: title } }])
/** `title` is the ID of the title property in every database. */
const properties: Read = (values) => {
  const title = titled(values)
  const given = json('properties')(values)
  const others = typeof given === 'object' && given !== null ? given : {}
  const all = { ...(title === undefined ? {} : { title: { title } }), ...others }
  return typeof given === 'string' ? given : isGiven(all) ? all : undefined
}
const paragraphs: Read = then(text('content'), (content) => [
  { object: 'block', type: 'paragraph', paragraph: { rich_text: [{ type: 'text', text: { content } }] } },
])
const page = { id: 'data.id', url: 'data.url', 'metadata.pageId': 'data.id', 'metadata.url': 'data.url', '*': 'data' }
const results = { results: 'data', 'metadata.results': 'data' }

export const notion: ServiceRules = {
  types: ['notion', 'notion_v2'],
  service: 'Notion',
  connector: 'notion',
  credential: { kind: 'bearer', secrets: ['apiKey'] },
  usual: 'notion_read',
  operations: {
    notion_read: {
      operation: 'readContent',
      params: { block_id: pageId },
      notes: ['It returns the blocks of the page, and not its text.'],
    },
    notion_query_database: {
      operation: 'queryDatabase',
      params: {
        database_id: databaseId,
        filter: json('filter'),
        sorts: json('sorts'),
        page_size: number('pageSize'),
      },
      maxItems: number('pageSize'),
      outputs: results,
    },
    notion_create_page_in_database: {
      operation: 'createPage',
      params: { database_id: databaseId, properties, children: paragraphs },
      outputs: page,
    },
    notion_add_database_row: {
      operation: 'createPage',
      params: { database_id: databaseId, properties },
      outputs: page,
    },
    notion_create_page: {
      method: 'POST',
      url: 'https://api.notion.com/v1/pages',
      headers: notionHeaders,
      body: {
        parent: then(from('parentId', 'parentSelector', 'manualParentId'), (id) => ({ type: 'page_id', page_id: id })),
        properties,
        children: paragraphs,
      },
      outputs: page,
    },
    notion_update_page: {
      operation: 'changePage',
      params: { page_id: pageId, properties: json('properties') },
      outputs: page,
    },
    notion_read_database: {
      method: 'GET',
      url: 'https://api.notion.com/v1/databases/{database_id}',
      headers: notionHeaders,
      path: { database_id: databaseId },
      outputs: { metadata: 'data', '*': 'data' },
    },
    notion_write: { operation: 'appendText', params: { block_id: pageId, text: text('content') } },
    notion_append: { operation: 'appendText', params: { block_id: pageId, text: text('content') } },
    notion_search: {
      operation: 'search',
      params: {
        query: text('query'),
        filter: (values) => {
          const type = textOf(from('filterType')(values))
          return type === 'page' || type === 'database' ? { property: 'object', value: type } : undefined
        },
      },
      maxItems: number('pageSize'),
      outputs: results,
    },
  },
}

const table = {
  baseId: from('baseId', 'manualBaseId', 'baseSelector'),
  table: from('tableId', 'manualTableId', 'tableSelector'),
}

export const airtable: ServiceRules = {
  types: ['airtable'],
  service: 'Airtable',
  connector: 'airtable',
  credential: { kind: 'bearer' },
  usual: 'list',
  operations: {
    list: {
      operation: 'findRecords',
      params: { ...table, filterByFormula: text('filterFormula') },
      maxItems: number('maxRecords'),
      outputs: { records: 'data' },
    },
    get: { operation: 'getRecord', params: { ...table, recordId: from('recordId') }, outputs: { record: 'data' } },
    create: {
      operation: 'createRecords',
      params: { ...table, records: json('records') },
      outputs: { records: 'data' },
    },
    update: {
      operation: 'updateRecord',
      params: { ...table, recordId: from('recordId'), fields: json('fields') },
      outputs: { record: 'data' },
    },
    updateMultiple: {
      method: 'PATCH',
      url: 'https://api.airtable.com/v0/{baseId}/{table}',
      path: table,
      body: { records: json('records') },
      outputs: { records: 'data.records' },
    },
    delete: { operation: 'deleteRecord', params: { ...table, recordId: from('recordId') } },
    listBases: { operation: 'listBases', outputs: { bases: 'data' } },
    listTables: { operation: 'listTables', params: { baseId: table.baseId }, outputs: { tables: 'data' } },
    getSchema: { operation: 'listTables', params: { baseId: table.baseId }, outputs: { tables: 'data' } },
  },
}

const projectUrl = (values: Parameters<Read>[0]) => {
  const project = textOf(text('projectId', 'projectUrl')(values))
  if (project === '') return ['The base URL of the Supabase credential is the URL of the project.']
  const url = project.startsWith('http') || isOpen(project) ? project : `https://${project}.supabase.co`
  return [`The base URL of the Supabase credential is ${url}.`]
}

/** `id=eq.1&status=eq.open` as an object. */
const filter: Read = then(text('filter'), (value) => {
  const conditions = textOf(value).split('&')
  const pairs = conditions.map((condition) => {
    const at = condition.indexOf('=')
    return [condition.slice(0, at).trim(), condition.slice(at + 1).trim()] as const
  })
  return conditions.every((condition) => condition.indexOf('=') > 0) ? Object.fromEntries(pairs) : value
})
/** `created_at DESC` becomes `created_at.desc`. */
const order: Read = then(text('orderBy'), (value) =>
  textOf(value).replace(/\s+(asc|desc)\s*$/i, (_, direction: string) => `.${direction.toLowerCase()}`),
)
const row: Read = then(json('data'), (value) => (Array.isArray(value) || isOpen(value) ? value : [value]))
const rowsFound = { results: 'data' }

export const supabase: ServiceRules = {
  types: ['supabase'],
  service: 'Supabase',
  connector: 'supabase',
  credential: { kind: 'header', secrets: ['apiKey'] },
  credentialNotes: projectUrl,
  usual: 'query',
  operations: {
    query: {
      operation: 'findRows',
      params: { table: text('table'), filter, select: text('select'), order },
      maxItems: number('limit'),
      outputs: rowsFound,
    },
    get_row: {
      operation: 'findRows',
      params: { table: text('table'), filter, select: text('select') },
      maxItems: () => 1,
      outputs: rowsFound,
    },
    insert: { operation: 'insertRows', params: { table: text('table'), rows: row }, outputs: rowsFound },
    upsert: {
      operation: 'upsertRows',
      params: { table: text('table'), rows: row, on_conflict: text('onConflict') },
      outputs: rowsFound,
    },
    update: {
      operation: 'updateRows',
      params: { table: text('table'), filter, values: json('data') },
      outputs: rowsFound,
    },
    delete: { operation: 'deleteRows', params: { table: text('table'), filter }, outputs: rowsFound },
    vector_search: {
      operation: 'callFunction',
      params: {
        function: text('functionName'),
        arguments: object({
          query_embedding: json('queryEmbedding'),
          match_threshold: number('matchThreshold'),
          match_count: number('matchCount'),
        }),
      },
      outputs: rowsFound,
    },
    rpc: {
      operation: 'callFunction',
      params: { function: text('functionName'), arguments: json('params') },
      outputs: rowsFound,
    },
  },
}

const collection = text('collection')
/** Whether Sim's choice of the returned parts includes the payload. */
const withPayload =
  (id: string): Read =>
  (values) => {
    const choice = textOf(from(id)(values))
    return choice === '' ? undefined : choice === 'payload_only' || choice === 'both'
  }

export const qdrant: ServiceRules = {
  types: ['qdrant'],
  service: 'Qdrant',
  connector: 'qdrant',
  credential: { kind: 'header', secrets: ['apiKey'] },
  credentialNotes: (values) => {
    const url = textOf(text('url')(values))
    return url === '' ? [] : [`The base URL of the Qdrant credential is ${url}.`]
  },
  usual: 'upsert',
  operations: {
    upsert: {
      operation: 'upsertPoints',
      params: { collection, points: json('points') },
      outputs: { status: 'data.status', data: 'data' },
    },
    search: {
      operation: 'query',
      params: {
        collection,
        query: json('vector'),
        filter: json('filter'),
        limit: number('limit'),
        with_payload: withPayload('search_return_data'),
      },
      outputs: { data: 'data', matches: 'data' },
    },
    fetch: {
      method: 'POST',
      url: (values) => `${textOf(text('url')(values)).replace(/\/+$/, '')}/collections/{collection}/points`,
      path: { collection },
      body: { ids: json('ids'), with_payload: withPayload('fetch_return_data') },
      outputs: { data: 'data.result' },
      needs: (values) => (isGiven(values.peek('url')) ? undefined : 'the address of the Qdrant server'),
    },
  },
}
