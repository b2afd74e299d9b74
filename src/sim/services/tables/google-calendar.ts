import { from, isGiven, list, number, type Read, text, then } from '../read.ts'
import type { ServiceRules } from '../rule.ts'

const calendarId = from('calendarId', 'manualCalendarId')
const eventId = from('eventId')

function moment(id: string): Read {
  return (values) => {
    const dateTime = text(id)(values)
    if (!isGiven(dateTime)) return undefined
    const timeZone = values.peek('timeZone') ?? values.peek('timezone')
    values.drop('timeZone', 'timezone')
    return { dateTime, ...(isGiven(timeZone) ? { timeZone } : {}) }
  }
}

/** Sim takes addresses, and Google a list of objects. */
const attendees = then(list('attendees'), (value) =>
  Array.isArray(value)
    ? value.map((email: unknown) => (typeof email === 'string' ? { email } : email))
    : [{ email: value }],
)

const event = {
  calendarId,
  summary: text('summary'),
  description: text('description'),
  location: text('location'),
  start: moment('startDateTime'),
  end: moment('endDateTime'),
  attendees,
  sendUpdates: from('sendUpdates'),
}
/** The second version of the block returns the event itself, and the first one a part of it. */
const asEvent = { metadata: 'data', '*': 'data' }

export const googleCalendar: ServiceRules = {
  types: ['google_calendar', 'google_calendar_v2'],
  service: 'Google Calendar',
  connector: 'google-calendar',
  credential: { kind: 'oauth2_authorization_code' },
  usual: 'create',
  operations: {
    create: { operation: 'createEvent', params: event, outputs: asEvent },
    list: {
      operation: 'listEvents',
      params: {
        calendarId,
        timeMin: text('timeMin'),
        timeMax: text('timeMax'),
        orderBy: from('orderBy'),
        q: text('q'),
      },
      maxItems: number('maxResults'),
      outputs: { events: 'data', 'metadata.events': 'data', items: 'data' },
    },
    get: { operation: 'getEvent', params: { calendarId, eventId }, outputs: asEvent },
    update: { operation: 'changeEvent', params: { ...event, eventId }, outputs: asEvent },
    delete: { operation: 'deleteEvent', params: { calendarId, eventId, sendUpdates: from('sendUpdates') } },
    list_calendars: {
      operation: 'listCalendars',
      maxItems: number('maxResults'),
      outputs: { calendars: 'data', 'metadata.calendars': 'data' },
    },
    quick_add: {
      method: 'POST',
      url: 'https://www.googleapis.com/calendar/v3/calendars/{calendarId}/events/quickAdd',
      path: { calendarId: (values) => calendarId(values) ?? 'primary' },
      query: { text: text('text'), sendUpdates: from('sendUpdates') },
      asks: ['text'],
      outputs: asEvent,
    },
    move: {
      method: 'POST',
      url: 'https://www.googleapis.com/calendar/v3/calendars/{calendarId}/events/{eventId}/move',
      path: { calendarId: (values) => calendarId(values) ?? 'primary', eventId },
      query: {
        destination: from('destinationCalendar', 'manualDestinationCalendarId', 'destinationCalendarId'),
        sendUpdates: from('sendUpdates'),
      },
      outputs: asEvent,
    },
    instances: {
      method: 'GET',
      url: 'https://www.googleapis.com/calendar/v3/calendars/{calendarId}/events/{eventId}/instances',
      path: { calendarId: (values) => calendarId(values) ?? 'primary', eventId },
      query: { timeMin: text('timeMin'), timeMax: text('timeMax'), maxResults: number('maxResults') },
      outputs: { instances: 'data.items', 'metadata.instances': 'data.items', nextPageToken: 'data.nextPageToken' },
    },
  },
}
