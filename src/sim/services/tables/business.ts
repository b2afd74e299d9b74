import { textOf } from '../../sim-document.ts'
import { from, isGiven, json, list, number, type Read, text } from '../read.ts'
import type { OperationRule, RequestRule, ServiceRules } from '../rule.ts'

/** The objects of HubSpot: Sim's words for one and several, and the sub-block with the ID. */
const objects = [
  ['contact', 'contacts', 'contactId'],
  ['company', 'companies', 'companyId'],
  ['deal', 'deals', 'dealId'],
  ['ticket', 'tickets', 'ticketId'],
  ['line_item', 'line_items', 'lineItemId'],
] as const

const properties = list('properties')
const camel = (word: string) => word.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())

function objectRules([one, several, id]: (typeof objects)[number]): [string, OperationRule][] {
  const object: Read = () => several
  const idProperty = from('idProperty')
  const asOne = { [camel(one)]: 'data', [camel(several)]: 'data' }
  return [
    [
      `get_${several}`,
      {
        operation: 'listRecords',
        params: { object, properties, limit: number('limit') },
        maxItems: number('limit'),
        outputs: { [camel(several)]: 'data' },
      },
    ],
    [
      `create_${one}`,
      {
        operation: 'createRecord',
        params: { object, properties: json('propertiesToSet'), associations: json('associations') },
        outputs: asOne,
      },
    ],
    [
      `update_${one}`,
      {
        operation: 'updateRecord',
        params: { object, id: text(id), properties: json('propertiesToSet'), idProperty },
        outputs: asOne,
      },
    ],
    [
      `search_${several}`,
      {
        operation: 'findRecords',
        params: {
          object,
          query: text('query'),
          filterGroups: json('filterGroups'),
          properties: list('searchProperties', 'properties'),
          limit: number('limit'),
        },
        maxItems: number('limit'),
        outputs: { [camel(several)]: 'data', total: 'data.length' },
      },
    ],
  ]
}

/** One record, when the block names its ID. */
function readOne([one, several, id]: (typeof objects)[number]): [string, OperationRule] {
  return [
    `get_${one}`,
    {
      operation: 'getRecord',
      params: { object: () => several, id: text(id), properties, idProperty: from('idProperty') },
      outputs: { [camel(one)]: 'data' },
    },
  ]
}

export const hubspot: ServiceRules = {
  types: ['hubspot'],
  service: 'HubSpot',
  connector: 'hubspot',
  credential: { kind: 'bearer', secrets: ['apiKey', 'accessToken'] },
  usual: 'get_contacts',
  choose: (operation, values) => {
    const found = objects.find(([, several, id]) => operation === `get_${several}` && isGiven(values.peek(id)))
    return found ? `get_${found[0]}` : operation
  },
  operations: {
    ...Object.fromEntries(objects.flatMap(objectRules)),
    ...Object.fromEntries(objects.map(readOne)),
    list_owners: { operation: 'listOwners', maxItems: number('limit'), outputs: { owners: 'data' } },
  },
}

const stripeApi = 'https://api.stripe.com/v1'
const customer = from('customer')
const limit = number('limit')

/** The requests that are the same for every resource of Stripe. */
function reading(one: string, several: string): [string, RequestRule][] {
  return [
    [
      `retrieve_${one}`,
      { method: 'GET', url: `${stripeApi}/${several}/{id}`, path: { id: text('id') }, outputs: { [one]: 'data' } },
    ],
    [
      `list_${several}`,
      {
        method: 'GET',
        url: `${stripeApi}/${several}`,
        query: { customer, limit },
        outputs: { [several]: 'data.data' },
      },
    ],
    [
      `search_${several}`,
      {
        method: 'GET',
        url: `${stripeApi}/${several}/search`,
        query: { query: text('query'), limit },
        asks: ['query'],
        outputs: { [several]: 'data.data' },
      },
    ],
  ]
}

const person = {
  email: text('email'),
  name: text('name'),
  phone: text('phone'),
  description: text('description'),
  metadata: json('metadata'),
}

export const stripe: ServiceRules = {
  types: ['stripe'],
  service: 'Stripe',
  connector: 'stripe',
  credential: { kind: 'bearer', secrets: ['apiKey'] },
  usual: 'create_payment_intent',
  operations: {
    ...Object.fromEntries(
      [
        reading('payment_intent', 'payment_intents'),
        reading('subscription', 'subscriptions'),
        reading('invoice', 'invoices'),
        reading('charge', 'charges'),
        reading('product', 'products'),
        reading('price', 'prices'),
        reading('event', 'events'),
      ].flat(),
    ),
    create_customer: { operation: 'createCustomer', params: person, outputs: { customer: 'data' } },
    retrieve_customer: { operation: 'getCustomer', params: { id: text('id') }, outputs: { customer: 'data' } },
    update_customer: {
      operation: 'updateCustomer',
      params: { id: text('id'), email: person.email, name: person.name, metadata: person.metadata },
      outputs: { customer: 'data' },
    },
    list_customers: {
      operation: 'listCustomers',
      params: { email: text('email'), limit },
      outputs: { customers: 'data' },
    },
    search_customers: {
      operation: 'searchCustomers',
      params: { query: text('query') },
      maxItems: limit,
      outputs: { customers: 'data' },
    },
    create_payment_intent: {
      operation: 'createPaymentIntent',
      params: {
        amount: number('amount'),
        currency: text('currency'),
        customer,
        description: text('description'),
        payment_method: from('payment_method'),
        metadata: json('metadata'),
      },
      outputs: { payment_intent: 'data' },
    },
    list_payment_intents: {
      operation: 'listPaymentIntents',
      params: { customer, limit },
      outputs: { payment_intents: 'data' },
    },
    list_invoices: {
      operation: 'listInvoices',
      params: { customer, status: from('status'), limit },
      outputs: { invoices: 'data' },
    },
    list_events: { operation: 'listEvents', params: { type: from('type'), limit }, outputs: { events: 'data' } },
  },
}

const content = {
  title: text('title'),
  content: text('content'),
  excerpt: text('excerpt'),
  status: from('status'),
  slug: text('slug'),
  categories: list('categories'),
  tags: list('tags'),
  featured_media: number('featuredMedia'),
}

export const wordpress: ServiceRules = {
  types: ['wordpress'],
  service: 'WordPress',
  connector: 'wordpress',
  credential: { kind: 'basic' },
  credentialNotes: (values) => [
    `The WordPress credential consists of a user name, an application password, and the address of the site${siteIn(values)}.`,
  ],
  usual: 'wordpress_create_post',
  operations: {
    wordpress_create_post: { operation: 'createPost', params: content, outputs: { post: 'data' } },
    wordpress_update_post: {
      operation: 'updatePost',
      params: { id: number('postId'), ...content },
      outputs: { post: 'data' },
    },
    wordpress_get_post: { operation: 'getPost', params: { id: number('postId') }, outputs: { post: 'data' } },
    wordpress_delete_post: { operation: 'deletePost', params: { id: number('postId') }, outputs: { post: 'data' } },
    wordpress_list_posts: {
      operation: 'listPosts',
      params: { search: text('search'), status: from('listStatus'), per_page: number('perPage') },
      outputs: { posts: 'data' },
    },
    wordpress_create_page: {
      operation: 'createPage',
      params: {
        title: content.title,
        content: content.content,
        excerpt: content.excerpt,
        status: content.status,
        slug: content.slug,
        parent: number('parent'),
      },
      outputs: { page: 'data' },
    },
    wordpress_list_categories: {
      operation: 'listCategories',
      params: { search: text('search'), per_page: number('perPage') },
      outputs: { categories: 'data' },
    },
  },
}

function siteIn(values: Parameters<Read>[0]): string {
  const site = textOf(text('siteId')(values))
  return site === '' ? '' : ` (in Sim: ${site})`
}
