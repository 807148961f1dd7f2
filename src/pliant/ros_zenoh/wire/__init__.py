"""The wire of rmw_zenoh: keys, tokens and attachments, without sockets."""
