"""What all pages share: safe data blocks, the content security policy, joined files, the theme."""
