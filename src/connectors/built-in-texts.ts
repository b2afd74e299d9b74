import airtable from '../../connectors/airtable.json' with { type: 'text' }
import baserow from '../../connectors/baserow.json' with { type: 'text' }
import discord from '../../connectors/discord.json' with { type: 'text' }
import firecrawl from '../../connectors/firecrawl.json' with { type: 'text' }
import github from '../../connectors/github.json' with { type: 'text' }
import gitlab from '../../connectors/gitlab.json' with { type: 'text' }
import gmail from '../../connectors/gmail.json' with { type: 'text' }
import googleCalendar from '../../connectors/google-calendar.json' with { type: 'text' }
import googleDocs from '../../connectors/google-docs.json' with { type: 'text' }
import googleDrive from '../../connectors/google-drive.json' with { type: 'text' }
import googleSheets from '../../connectors/google-sheets.json' with { type: 'text' }
import hubspot from '../../connectors/hubspot.json' with { type: 'text' }
import jira from '../../connectors/jira.json' with { type: 'text' }
import linear from '../../connectors/linear.json' with { type: 'text' }
import mattermost from '../../connectors/mattermost.json' with { type: 'text' }
import mistralOcr from '../../connectors/mistral-ocr.json' with { type: 'text' }
import notion from '../../connectors/notion.json' with { type: 'text' }
import qdrant from '../../connectors/qdrant.json' with { type: 'text' }
import slack from '../../connectors/slack.json' with { type: 'text' }
import stripe from '../../connectors/stripe.json' with { type: 'text' }
import supabase from '../../connectors/supabase.json' with { type: 'text' }
import telegram from '../../connectors/telegram.json' with { type: 'text' }
import twilio from '../../connectors/twilio.json' with { type: 'text' }
import whatsapp from '../../connectors/whatsapp.json' with { type: 'text' }
import wordpress from '../../connectors/wordpress.json' with { type: 'text' }

/** The connectors that come with the service, as JSON text, by ID. */
export const builtInTexts: ReadonlyMap<string, string> = new Map(
  Object.entries({
    airtable,
    baserow,
    discord,
    firecrawl,
    github,
    gitlab,
    gmail,
    'google-calendar': googleCalendar,
    'google-docs': googleDocs,
    'google-drive': googleDrive,
    'google-sheets': googleSheets,
    hubspot,
    jira,
    linear,
    mattermost,
    'mistral-ocr': mistralOcr,
    notion,
    qdrant,
    slack,
    stripe,
    supabase,
    telegram,
    twilio,
    whatsapp,
    wordpress,
  }) as unknown as [string, string][],
)
