import { textOf } from '../../sim-document.ts'
import { flag, from, json, number, type Read, text, then } from '../read.ts'
import type { ServiceRules } from '../rule.ts'

const channel: Read = (values) =>
  textOf(values.peek('destinationType')) === 'dm'
    ? from('dmUserId', 'manualDmUserId', 'userId')(values)
    : from('channel', 'manualChannel', 'channelId')(values)

const directOnly = (what: string) => (values: Parameters<Read>[0]) =>
  textOf(values.peek('destinationType')) === 'dm' ? `${what}, which our connector does not offer` : undefined

export const slack: ServiceRules = {
  types: ['slack', 'slack_v2'],
  service: 'Slack',
  connector: 'slack',
  credential: { kind: 'bearer', secrets: ['botToken', 'accessToken'] },
  usual: 'send',
  operations: {
    send: {
      operation: 'sendMessage',
      params: { channel, text: text('text'), thread_ts: from('threadTs', 'thread_ts'), blocks: json('blocks') },
      outputs: { message: 'data.message', ts: 'data.ts', channel: 'data.channel' },
    },
    read: {
      operation: 'readMessages',
      params: { channel, oldest: from('oldest') },
      maxItems: number('limit'),
      outputs: { messages: 'data' },
      needs: directOnly('an operation that reads direct messages by user'),
    },
    update: {
      operation: 'updateMessage',
      params: {
        channel,
        ts: from('updateTimestamp', 'timestamp'),
        text: text('updateText', 'text'),
        blocks: json('blocks'),
      },
      outputs: { message: 'data.message', ts: 'data.ts', channel: 'data.channel' },
    },
    delete: {
      operation: 'deleteMessage',
      params: { channel, ts: from('deleteTimestamp', 'timestamp') },
      outputs: { 'metadata.timestamp': 'data.ts', 'metadata.channel': 'data.channel' },
    },
    react: {
      operation: 'addReaction',
      params: { channel, timestamp: from('reactionTimestamp', 'timestamp'), name: from('emojiName', 'name') },
    },
    list_channels: {
      operation: 'listChannels',
      params: {
        types: (values) =>
          flag('includePrivate')(values) === false ? 'public_channel' : 'public_channel,private_channel',
        exclude_archived: () => true,
      },
      maxItems: number('channelLimit', 'limit'),
      outputs: { channels: 'data' },
    },
    list_users: { operation: 'listUsers', maxItems: number('userLimit', 'limit'), outputs: { users: 'data' } },
    create_conversation: {
      operation: 'createChannel',
      params: { name: from('conversationName', 'name'), is_private: flag('isPrivate') },
      outputs: { channelInfo: 'data' },
    },
  },
}

const discordChannel = { channel_id: from('channelId') }
const discordMessage = { ...discordChannel, message_id: from('messageId') }

export const discord: ServiceRules = {
  types: ['discord'],
  service: 'Discord',
  connector: 'discord',
  credential: { kind: 'bearer', secrets: ['botToken'] },
  usual: 'discord_send_message',
  drop: ['serverId'],
  operations: {
    discord_send_message: {
      operation: 'sendMessage',
      params: { ...discordChannel, content: text('content') },
      outputs: { data: 'data' },
    },
    discord_edit_message: {
      operation: 'changeMessage',
      params: { ...discordMessage, content: text('content') },
      outputs: { data: 'data' },
    },
    discord_delete_message: { operation: 'deleteMessage', params: discordMessage },
    discord_get_messages: {
      operation: 'readMessages',
      params: { ...discordChannel, limit: number('limit') },
      outputs: { 'data.messages': 'data', messages: 'data' },
    },
    discord_create_channel: {
      operation: 'createChannel',
      params: { guild_id: from('serverId'), name: from('name'), type: number('channelType'), topic: from('topic') },
      outputs: { data: 'data' },
    },
    discord_assign_role: {
      operation: 'giveRole',
      params: { guild_id: from('serverId'), user_id: from('userId'), role_id: from('roleId') },
    },
    discord_get_channel: {
      method: 'GET',
      url: 'https://discord.com/api/v10/channels/{channel_id}',
      path: discordChannel,
      outputs: { data: 'data' },
    },
    discord_get_server: {
      method: 'GET',
      url: 'https://discord.com/api/v10/guilds/{guild_id}',
      path: { guild_id: from('serverId') },
      outputs: { data: 'data' },
    },
    discord_get_user: {
      method: 'GET',
      url: 'https://discord.com/api/v10/users/{user_id}',
      path: { user_id: from('userId') },
      outputs: { data: 'data' },
    },
  },
}

const chat = { chat_id: from('chatId') }
const sent = { data: 'data', result: 'data', messageId: 'data.message_id', messageText: 'data.text' }

export const telegram: ServiceRules = {
  types: ['telegram'],
  service: 'Telegram',
  connector: 'telegram',
  credential: { kind: 'path', secrets: ['botToken'] },
  usual: 'telegram_message',
  operations: {
    telegram_message: {
      operation: 'sendMessage',
      params: { ...chat, text: text('text') },
      outputs: sent,
    },
    telegram_send_photo: {
      operation: 'sendPhoto',
      params: { ...chat, photo: from('photo', 'photoFile'), caption: text('caption') },
      outputs: sent,
    },
    telegram_send_document: {
      operation: 'sendDocument',
      params: { ...chat, document: then(from('files', 'attachmentFiles'), firstOf), caption: text('caption') },
      outputs: sent,
    },
    telegram_delete_message: {
      operation: 'deleteMessage',
      params: { ...chat, message_id: number('messageId') },
      outputs: { deleted: 'data' },
    },
  },
}

/** A list of one file stands for the file. */
function firstOf(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? (value as unknown[])[0] : value
}

export const twilio: ServiceRules = {
  types: ['twilio_sms'],
  service: 'Twilio',
  connector: 'twilio',
  credential: { kind: 'basic', secrets: ['authToken'] },
  credentialNotes: (values) => {
    const account = text('accountSid')(values)
    return account === undefined
      ? []
      : [`The user name of the Twilio credential is the account SID, ${textOf(account)}.`]
  },
  usual: 'send',
  operations: {
    send: {
      operation: 'sendMessage',
      params: { To: text('phoneNumbers'), From: text('fromNumber'), Body: text('message') },
      outputs: { messageId: 'data.sid', status: 'data.status', fromNumber: 'data.from', toNumber: 'data.to' },
      needs: (values) =>
        /[\n,;]/.test(textOf(values.peek('phoneNumbers')).trim())
          ? 'one Twilio operation for each phone number, or a loop over the numbers'
          : undefined,
    },
  },
}

const sendText: ServiceRules['operations'][string] = {
  operation: 'sendText',
  params: { phoneNumberId: text('phoneNumberId'), to: text('phoneNumber'), text: text('message') },
  outputs: { messageId: 'data.messages[0].id' },
}

export const whatsapp: ServiceRules = {
  types: ['whatsapp'],
  service: 'WhatsApp',
  connector: 'whatsapp',
  credential: { kind: 'bearer', secrets: ['accessToken'] },
  usual: 'send_message',
  operations: { send_message: sendText, whatsapp_send_message: sendText },
}
