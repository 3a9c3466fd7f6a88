"""What all pages share: blocks of data, the content security policy, joined scripts, the theme."""
