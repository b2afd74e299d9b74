import { textOf } from '../../sim-document.ts'
import { from, list, number, text, then } from '../read.ts'
import type { RequestRule, ServiceRules } from '../rule.ts'

const reddit = 'https://oauth.reddit.com'
const subreddit = { subreddit: text('subreddit') }

const signIn = (name: string, host: string) => () => [
  `The credential for ${name} signs in with OAuth: register an app there. Its host is ${host}.`,
]
const asListing = ['The posts are in "data.data.children", each in a member "data".']

export const redditRules: ServiceRules = {
  types: ['reddit'],
  service: 'Reddit',
  connector: 'reddit',
  credential: { kind: 'oauth2_authorization_code' },
  credentialNotes: signIn('Reddit', 'oauth.reddit.com'),
  usual: 'get_posts',
  operations: {
    get_posts: {
      method: 'GET',
      url: `${reddit}/r/{subreddit}/{sort}`,
      path: { ...subreddit, sort: (values) => text('sort')(values) ?? 'hot' },
      query: { limit: number('limit'), t: from('time'), after: from('after'), before: from('before') },
      asks: ['subreddit'],
      notes: asListing,
    },
    get_controversial: {
      method: 'GET',
      url: `${reddit}/r/{subreddit}/controversial`,
      path: subreddit,
      query: { limit: number('controversialLimit', 'limit'), t: from('controversialTime', 'time') },
      asks: ['subreddit'],
      notes: asListing,
    },
    search: {
      method: 'GET',
      url: `${reddit}/r/{subreddit}/search`,
      path: subreddit,
      query: {
        q: text('searchQuery', 'query'),
        restrict_sr: () => '1',
        sort: from('searchSort', 'sort'),
        t: from('searchTime', 'time'),
        limit: number('searchLimit', 'limit'),
      },
      asks: ['subreddit', 'q'],
      notes: asListing,
    },
    get_comments: {
      method: 'GET',
      url: `${reddit}/r/{subreddit}/comments/{postId}`,
      path: { ...subreddit, postId: text('postId') },
      query: { sort: from('commentSort'), limit: number('commentLimit'), depth: number('commentDepth') },
      asks: ['subreddit', 'postId'],
      notes: ['The post is in "data[0]", and its comments are in "data[1].data.children".'],
    },
    get_subreddit_info: {
      method: 'GET',
      url: `${reddit}/r/{subreddit}/about`,
      path: subreddit,
      asks: ['subreddit'],
      notes: ['The subreddit is in "data.data".'],
    },
    get_me: { method: 'GET', url: `${reddit}/api/v1/me`, outputs: { '*': 'data' } },
  },
}

const x = 'https://api.x.com/2'
const tweetId = { tweetId: text('tweetId') }
const userId = { userId: text('userId') }
const named = ['Tweets and users have the names of the API of X, such as "created_at".']

/** A list of tweets or users. */
function xList(path: string, more: Partial<RequestRule> = {}): RequestRule {
  return {
    method: 'GET',
    url: x + path,
    query: { max_results: number('maxResults'), pagination_token: from('paginationToken') },
    outputs: { tweets: 'data.data', users: 'data.data', meta: 'data.meta', includes: 'data.includes' },
    notes: named,
    ...more,
  }
}

const period = { start_time: from('startTime'), end_time: from('endTime') }
const ofUser = { max_results: number('maxResults'), pagination_token: from('paginationToken'), ...period }
const search: RequestRule = xList('/tweets/search/recent', {
  query: {
    query: text('query'),
    max_results: number('maxResults'),
    next_token: from('nextToken'),
    sort_order: from('sortOrder'),
    ...period,
  },
  asks: ['query'],
})

export const xRules: ServiceRules = {
  types: ['x'],
  service: 'X',
  connector: 'x',
  credential: { kind: 'oauth2_authorization_code', secrets: ['bearerToken', 'apiKey'] },
  credentialNotes: signIn('X', 'api.x.com'),
  usual: 'x_create_tweet',
  operations: {
    x_create_tweet: {
      method: 'POST',
      url: `${x}/tweets`,
      body: {
        text: text('text'),
        reply: then(text('replyToTweetId', 'replyTo'), (id) => ({ in_reply_to_tweet_id: id })),
        quote_tweet_id: text('quoteTweetId'),
        media: then(list('mediaIds'), (ids) => ({ media_ids: ids })),
        reply_settings: from('replySettings'),
      },
      asks: ['text'],
      outputs: { tweet: 'data.data', id: 'data.data.id', text: 'data.data.text' },
    },
    x_delete_tweet: {
      method: 'DELETE',
      url: `${x}/tweets/{tweetId}`,
      path: tweetId,
      outputs: { deleted: 'data.data.deleted' },
    },
    x_search_tweets: search,
    x_get_tweets_by_ids: xList('/tweets', { query: { ids: text('ids') }, asks: ['ids'] }),
    x_get_quote_tweets: xList('/tweets/{tweetId}/quote_tweets', { path: tweetId }),
    x_get_user_tweets: xList('/users/{userId}/tweets', {
      path: userId,
      query: { ...ofUser, exclude: text('exclude') },
    }),
    x_get_user_mentions: xList('/users/{userId}/mentions', { path: userId, query: ofUser }),
    x_get_user_timeline: xList('/users/{userId}/timelines/reverse_chronological', {
      path: userId,
      query: { ...ofUser, exclude: text('exclude') },
    }),
    x_get_liked_tweets: xList('/users/{userId}/liked_tweets', { path: userId }),
    x_get_liking_users: xList('/tweets/{tweetId}/liking_users', { path: tweetId }),
    x_get_retweeted_by: xList('/tweets/{tweetId}/retweeted_by', { path: tweetId }),
    x_get_bookmarks: xList('/users/{userId}/bookmarks', { path: userId }),
    x_get_followers: xList('/users/{userId}/followers', { path: userId }),
    x_get_following: xList('/users/{userId}/following', { path: userId }),
    x_get_me: { method: 'GET', url: `${x}/users/me`, outputs: { user: 'data.data' }, notes: named },
    // The names of earlier versions.
    x_write: {
      method: 'POST',
      url: `${x}/tweets`,
      body: { text: text('text'), reply: then(text('replyTo'), (id) => ({ in_reply_to_tweet_id: id })) },
      asks: ['text'],
      outputs: { tweet: 'data.data' },
    },
    x_read: { method: 'GET', url: `${x}/tweets/{tweetId}`, path: tweetId, outputs: { tweet: 'data.data' } },
    x_search: search,
    x_user: {
      method: 'GET',
      url: `${x}/users/by/username/{username}`,
      path: { username: text('username') },
      outputs: { user: 'data.data' },
    },
  },
}

export const resend: ServiceRules = {
  types: ['resend'],
  service: 'Resend',
  connector: 'resend',
  credential: { kind: 'bearer', secrets: ['resendApiKey', 'apiKey'] },
  usual: 'send_email',
  drop: ['contentType'],
  operations: {
    send_email: {
      method: 'POST',
      url: 'https://api.resend.com/emails',
      body: {
        from: text('fromAddress'),
        to: list('to'),
        cc: list('cc'),
        bcc: list('bcc'),
        reply_to: list('replyTo'),
        subject: text('subject'),
        html: (values) => (isHtml(values) ? text('body')(values) : undefined),
        text: (values) => (isHtml(values) ? undefined : text('body')(values)),
        scheduled_at: from('scheduledAt'),
      },
      asks: ['to', 'subject', 'text'],
      outputs: { id: 'data.id' },
    },
    get_email: {
      method: 'GET',
      url: 'https://api.resend.com/emails/{id}',
      path: { id: text('emailId') },
      outputs: { '*': 'data' },
    },
    list_domains: { method: 'GET', url: 'https://api.resend.com/domains', outputs: { domains: 'data.data' } },
  },
}

function isHtml(values: Parameters<NonNullable<ServiceRules['credentialNotes']>>[0]): boolean {
  return textOf(values.peek('contentType')) === 'html'
}
